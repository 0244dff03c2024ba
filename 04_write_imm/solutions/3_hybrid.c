/* SPDX-License-Identifier: MIT */
/* Solution of exercise 4.3 - extend: offered by SEND, written, done by SEND
 *
 * A piece takes three requests (offer, WRITE, done), two receives and one round
 * trip. With immediate it is one request and one receive, and half a round trip;
 * but address and rkey must be known beforehand.
 */
#include <errno.h>

#include "../exercises/3_hybrid.h"
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
		struct ibv_sge sge = {
			.addr = (uintptr_t)(own.data + i * PIECE),
			.length = PIECE,
			.lkey = mr->lkey,
		};
		struct ibv_send_wr write = {
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = 1,
			.wr.rdma = { .remote_addr = be64toh(offer->addr),
				     .rkey = be32toh(offer->rkey) },
			.next = &done,
		};
		int rc = ibv_post_send(ep.qp, &write, &bad);
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
