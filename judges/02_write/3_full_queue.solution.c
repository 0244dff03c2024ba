/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.3 - a hundred WRITEs, sixteen places */
#include "3_full_queue.h"

void write_all(struct ep *ep, struct ibv_send_wr *wr, int n)
{
	for (int i = 0; i < n; i++) {
		bool full = i % PLACES == PLACES - 1 || i == n - 1;

		wr[i].send_flags = full ? IBV_SEND_SIGNALED : 0;
		post(ep, &wr[i]);
		if (full) /* this one and all before it are done */
			expect_completion(ep, "RDMA_WRITE");
	}
}
