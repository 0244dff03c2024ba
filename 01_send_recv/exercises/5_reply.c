/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.5 - extend: the server answers                    *** 60 minutes
 *
 * A client sends n requests, at most SLOTS of them before it has had a reply.
 * With each reply it may send one more request, at once. It may take the client
 * a while to post a receive for your reply: your SEND completes later then.
 *
 * Write serve(): it sends one reply to each of n requests, in the order of the
 * requests, and returns when all of its SENDs have completed.
 *
 * What you have (desk->lkey is the lkey of all of *desk):
 * - desk->request[] are SLOTS (4) slots of TEXT (32) bytes. A request comes into one
 *   of them; wr_id of the receive's completion is the number of the slot. All are
 *   posted at first.
 * - answer(request, len, reply) reads the request and writes the reply to one of
 *   the REPLIES (2) buffers desk->reply[], of TEXT bytes. It returns the length of
 *   the reply. You may use a buffer again when the SEND from it has completed.
 * - post_slot(ep, slot) posts a slot again. Do that before you post the reply that
 *   lets the client send the next request, but not before answer() has read it.
 * wait_wc(ep) returns the next completion, of either kind: receives have the opcode
 * IBV_WC_RECV, SENDs IBV_WC_SEND. post(ep, list) posts, or ends the program; end it
 * at a bad status, too: die("what").
 *
 * The judge is the client. It calls serve() once and compares each reply with its
 * request.
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
