/* SPDX-License-Identifier: MIT */
/*
 * The client of exercise 2.4: twice it takes a key, writes with it and gives it
 * back. Then it writes with the last one again, and must be refused.
 */
#include <errno.h>

#include "../4_window.h"
#include "common.h"
#include "lesson.h"

static struct {
	struct offer offer[KEYS];
	char data[WINDOW];
} own;

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 2 * KEYS + 1,
		.max_recv_wr = KEYS,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	/* LOCAL_WRITE, because the offers are received here. */
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	qp_to_init(&ep, 0);
	for (int i = 0; i < KEYS; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)&own.offer[i],
			.length = sizeof own.offer[i],
			.lkey = mr->lkey,
		};
		struct ibv_recv_wr wr = {
			.wr_id = (uint64_t)i + 1,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_recv_wr *bad;
		int rc = ibv_post_recv(ep.qp, &wr, &bad);

		if (rc)
			die_err(rc, "ibv_post_recv");
	}
	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	struct ibv_sge sge = {
		.addr = (uintptr_t)own.data,
		.length = WINDOW,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;

	for (int i = 1; i <= KEYS; i++) {
		const struct offer *offer = &own.offer[i - 1];

		wc = wait_wc(&ep);
		if (wc.status != IBV_WC_SUCCESS)
			die("key %d: %s", (int)wc.wr_id,
			    ibv_wc_status_str(wc.status));
		if (be32toh(offer->len) != WINDOW)
			die("an offer of %u bytes", be32toh(offer->len));
		if (i > 1 && offer->rkey == offer[-1].rkey)
			die("key %d is the one that was given back", i);

		/* Neither is SIGNALED: the server's next word says more. */
		struct ibv_send_wr give_back = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_SEND_WITH_INV,
			.invalidate_rkey = be32toh(offer->rkey),
		};
		write.wr_id = (uint64_t)i;
		write.wr.rdma.remote_addr = be64toh(offer->addr);
		write.wr.rdma.rkey = be32toh(offer->rkey);
		write.next = &give_back;
		pattern(own.data, WINDOW, i);
		post(&ep, &write);
	}
	barrier(&ep); /* the server has them all back */

	pattern(own.data, WINDOW, KEYS + 1);
	write.next = NULL;
	write.send_flags = IBV_SEND_SIGNALED;
	post(&ep, &write);
	wc = wait_wc(&ep);
	if (wc.status != IBV_WC_REM_ACCESS_ERR)
		die("a WRITE with a key given back: %s",
		    ibv_wc_status_str(wc.status));
	barrier(&ep); /* now the server may look */
	say("PASS %d keys used and given back; once more: %s", KEYS,
	    ibv_wc_status_str(wc.status));

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
