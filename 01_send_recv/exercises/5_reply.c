/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.5 - extend: the server answers                    *** 45 minutes
 *
 * A client sends n requests, at most SLOTS of them before it has had a reply.
 * With each reply it may send one more request, at once. Each request comes
 * into one of the slots; wr_id of the receive's completion is the slot. It may
 * take the client a while to post a receive for your reply.
 *
 * Write serve(): it sends one reply to each of n requests, in the order of the
 * requests, and returns when all of its SENDs have completed.
 * - answer() reads a request and writes the reply. You have REPLIES buffers for
 *   replies. You may write to one again when the SEND from it has completed.
 * - post_slot() posts a slot again. Do that before you post the reply that lets
 *   the client send the next request, but not before answer() has read it.
 * - Your CQ shows both: receives (opcode IBV_WC_RECV) and SENDs (IBV_WC_SEND).
 *
 * Now serve() does what most people would write first.
 * The names that are not yours are explained in
 * judges/01_send_recv/5_reply.h.
 */
#include "5_reply.h"

void serve(struct ep *ep, struct desk *desk, int n)
{
	for (int k = 0; k < n; k++) { /* TODO 1.5 */
		struct ibv_wc wc = wait_wc(ep);
		char *reply = desk->reply[k % REPLIES];
		struct ibv_sge sge = {
			.addr = (uintptr_t)reply,
			.length = answer(desk->request[wc.wr_id], wc.byte_len,
					 reply),
			.lkey = desk->lkey,
		};
		struct ibv_send_wr send = {
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		};

		post(ep, &send);
		post_slot(ep, wc.wr_id);
	}
}
