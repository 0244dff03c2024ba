/* SPDX-License-Identifier: MIT */
/* Solution of exercise 9.3 - a buffer in several parts */
#include "3_pieces.h"

void transfer(struct ep *ep, const struct work *w, const struct part *part,
	      int n, bool to_client)
{
	struct ibv_sge sge[PIECES + 1];
	struct ibv_send_wr wr[PIECES + 1];
	uint64_t data = (uintptr_t)w->data;
	int k = 0;

	for (int i = 0; i < n; i++) {
		if (part[i].len == 0)
			continue;
		sge[k] = (struct ibv_sge){ .addr = data,
					   .length = part[i].len,
					   .lkey = w->lkey };
		wr[k] = (struct ibv_send_wr){
			.opcode = to_client ? IBV_WR_RDMA_WRITE
					    : IBV_WR_RDMA_READ,
			.sg_list = &sge[k],
			.num_sge = 1,
			.wr.rdma = { .remote_addr = part[i].addr,
				     .rkey = part[i].rkey },
			.next = &wr[k + 1],
		};
		data += part[i].len;
		k++;
	}
	sge[k] = w->reply;
	wr[k] = (struct ibv_send_wr){
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge[k],
		.num_sge = 1,
	};
	/* One fence waits for all READs in front of it. */
	if (!to_client && k > 0)
		wr[k].send_flags |= IBV_SEND_FENCE;
	post(ep, wr);
	expect_completion(ep, "reply");
}
