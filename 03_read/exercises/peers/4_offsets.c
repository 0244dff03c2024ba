/* SPDX-License-Identifier: MIT */
/*
 * The server of exercise 3.4: what it opens begins at 0, wherever it is in its
 * own memory.
 */
#include <errno.h>

#include "../4_offsets.h"
#include "common.h"

static _Alignas(4096) char data[DATA];

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* 0 is what lkey and rkey call the first byte (man ibv_reg_mr). The
	 * place within a page must be the same for both: hence _Alignas. */
	struct ibv_mr *mr = ibv_reg_mr_iova(ep.pd, data, sizeof data, 0,
					    IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr_iova");
	for (int k = 0; k < DATA; k++)
		data[k] = byte_at(k);

	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr); /* with our own address: of use to nobody */
	ep.max_dest_rd_atomic = DEPTH;
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	say("%zu bytes open to REMOTE_READ, from 0 on; going to sleep",
	    sizeof data);
	barrier(&ep);

	barrier(&ep); /* asleep in poll(2), until the client is done */
	struct ibv_wc wc;
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("my completion queue stirred");
	say("PASS woke up, and my completion queue is empty");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
