/* SPDX-License-Identifier: MIT */
/* Solution of exercise 1.5 - the server answers */
#include "5_reply.h"

void serve(struct ep *ep, struct desk *desk, int n)
{
	struct ibv_wc waiting[SLOTS]; /* requests without a reply yet */
	int came = 0, sent = 0, done = 0;

	while (done < n) {
		struct ibv_wc wc = wait_wc(ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("%s", ibv_wc_status_str(wc.status));
		if (wc.opcode == IBV_WC_SEND)
			done++;
		else
			waiting[came++ % SLOTS] = wc;
		if (sent == came || sent - done == REPLIES)
			continue; /* nothing to answer, or no buffer for it */

		struct ibv_wc request = waiting[sent % SLOTS];
		char *reply = desk->reply[sent % REPLIES];
		struct ibv_sge sge = {
			.addr = (uintptr_t)reply,
			.length = answer(desk->request[request.wr_id],
					 request.byte_len, reply),
			.lkey = desk->lkey,
		};
		struct ibv_send_wr send = {
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		};

		post_slot(ep, request.wr_id);
		post(ep, &send);
		sent++;
	}
}
