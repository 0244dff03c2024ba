/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.3 - extend: offered by SEND, written, done by SEND
 * side: client
 * peer: exercises/peers/3_hybrid.c
 *
 * The older way to do it: the server offers memory in a message, the client
 * writes there, and says "done" in a message. The server is
 * exercises/peers/3_hybrid.c; it makes three offers, one after the other. This
 * client says "done" and has done nothing. Add the WRITE. How many requests,
 * receives and round trips does a piece take here, and how many with
 * WRITE_WITH_IMM?
 */
#include <errno.h>

#include "3_hybrid.h"
#include "common.h"
#include "lesson.h"

static struct {
	struct offer offer[PIECES];
	char data[PIECES * PIECE];
} own;

static void expect_offer(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("piece: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV)
		die("opcode %d, where an offer should be", wc.opcode);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 2 * PIECES,
		.max_recv_wr = PIECES,
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
	for (uint32_t k = 0; k < sizeof own.data; k++)
		own.data[k] = byte_at(k);

	qp_to_init(&ep, 0);
	for (int i = 0; i < PIECES; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)&own.offer[i],
			.length = sizeof own.offer[i],
			.lkey = mr->lkey,
		};
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
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

	for (int i = 0; i < PIECES; i++) {
		const struct offer *offer = &own.offer[i];

		expect_offer(&ep);
		if (be32toh(offer->len) != PIECE)
			die("an offer of %u bytes", be32toh(offer->len));

		struct ibv_send_wr done = {
			.opcode = IBV_WR_SEND,
			/* Not SIGNALED: the server's next word says more. */
		};
		struct ibv_send_wr *bad;
		/* TODO 4.3 */
		int rc = ibv_post_send(ep.qp, &done, &bad);
		if (rc)
			die_err(rc, "ibv_post_send");
	}
	barrier(&ep);
	say("PASS %d offers taken, written and done", PIECES);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
