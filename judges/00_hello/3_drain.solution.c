/* SPDX-License-Identifier: MIT */
/* Solution of exercise 0.3 - what the QP still owes */
#include "3_drain.h"

void drain(struct ibv_qp *qp, struct ibv_cq *cq, int receives, int sends)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	int rc = ibv_modify_qp(qp, &error, IBV_QP_STATE);

	if (rc)
		die_err(rc, "ibv_modify_qp to ERR");
	for (int owed = receives + sends; owed > 0;) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(cq, 1, &wc);

		if (n < 0)
			die("ibv_poll_cq returned %d", n);
		if (n == 0)
			continue;
		owed--;
		if (wc.wr_id < FIRST_SEND && wc.status == IBV_WC_SUCCESS)
			deliver(wc.wr_id, wc.byte_len);
		else
			give_back(wc.wr_id);
	}
}
