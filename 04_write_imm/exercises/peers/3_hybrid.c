/* SPDX-License-Identifier: MIT */
/*
 * The server of exercise 4.3: it offers its memory in a SEND, not over TCP, and
 * takes an empty SEND for "done". Three times, each time another piece.
 */
#include <errno.h>
#include <string.h>

#include "../3_hybrid.h"
#include "common.h"
#include "lesson.h"

static char data[PIECES * PIECE];
static struct offer offer;

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = PIECES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = sizeof(struct offer),
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, data, sizeof data,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_WRITE);
	for (int i = 0; i < PIECES; i++) {
		struct ibv_recv_wr done = { .wr_id = (uint64_t)i }, *bad;
		int rc = ibv_post_recv(ep.qp, &done, &bad);
		if (rc)
			die_err(rc, "ibv_post_recv");
	}
	send_info(&ep, NULL); /* no region: that comes in a SEND */
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	memset(data, '?', sizeof data);
	for (int i = 0; i < PIECES; i++) {
		offer = (struct offer){
			.addr = htobe64((uintptr_t)data + (uint64_t)i * PIECE),
			.rkey = htobe32(mr->rkey),
			.len = htobe32(PIECE),
		};
		struct ibv_sge sge = { .addr = (uintptr_t)&offer,
				       .length = sizeof offer };
		struct ibv_send_wr send = {
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_send_wr *bad;
		int rc = ibv_post_send(ep.qp, &send, &bad);
		if (rc)
			die_err(rc, "ibv_post_send");

		/* Two completions, in whichever order: our SEND's and that of
		 * the client's "done". */
		for (int n = 0; n < 2; n++) {
			struct ibv_wc wc = wait_wc(&ep);
			if (wc.status != IBV_WC_SUCCESS)
				die("piece %d: %s", i,
				    ibv_wc_status_str(wc.status));
			if (wc.opcode != IBV_WC_SEND &&
			    wc.opcode != IBV_WC_RECV)
				die("piece %d: done by opcode %d", i,
				    wc.opcode);
		}
		for (int k = 0; k < PIECE; k++)
			if (data[i * PIECE + k] !=
			    byte_at((uint32_t)(i * PIECE + k)))
				die("piece %d: done, but byte %d is 0x%02x", i,
				    k, data[i * PIECE + k] & 0xff);
	}
	barrier(&ep);
	say("PASS %d pieces offered, written and done", PIECES);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
