/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.2 - success here, disorder over there */
#include "2_gather.h"

void write_pieces(struct ep *ep, const struct piece *p, int n, uint32_t lkey,
		  uint32_t rkey)
{
	struct ibv_send_wr wr[PIECES], *last = wr;
	struct ibv_sge sge[PIECES];

	for (int i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)p[i].from,
			.length = p[i].len,
			.lkey = lkey,
		};
		if (i > 0 && last->num_sge < SGES &&
		    p[i].to == p[i - 1].to + p[i - 1].len) {
			last->num_sge++; /* &sge[i] is the next of its list */
			continue;
		}
		wr[i] = (struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge[i],
			.num_sge = 1,
			.wr.rdma = { .remote_addr = p[i].to, .rkey = rkey },
		};
		if (i > 0)
			last->next = &wr[i];
		last = &wr[i];
	}
	last->send_flags = IBV_SEND_SIGNALED;
	post(ep, wr);
	expect_completion(ep, "RDMA_WRITE");
}
