/* SPDX-License-Identifier: MIT */
/* Solution of exercise 5.4 - append to a log */
#include "4_log.h"

uint64_t append(struct writer *w)
{
	struct ibv_sge old = { .addr = (uintptr_t)&w->old,
			       .length = 8,
			       .lkey = w->lkey };
	struct ibv_sge text = { .addr = (uintptr_t)w->entry.text,
				.length = sizeof w->entry.text,
				.lkey = w->lkey };
	struct ibv_sge one = { .addr = (uintptr_t)&w->one,
			       .length = 8,
			       .lkey = w->lkey };
	struct ibv_send_wr reserve = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.sg_list = &old,
		.num_sge = 1,
		.wr.atomic = { .remote_addr =
				       w->log + offsetof(struct log, counter),
			       .compare_add = 1,
			       .rkey = w->rkey },
	};
	struct ibv_send_wr fill = { .opcode = IBV_WR_RDMA_WRITE,
				    .sg_list = &text,
				    .num_sge = 1,
				    .wr.rdma.rkey = w->rkey };
	struct ibv_send_wr valid = { .opcode = IBV_WR_RDMA_WRITE,
				     .sg_list = &one,
				     .num_sge = 1,
				     .wr.rdma.rkey = w->rkey };

	/*
	 * The place is a part of the next requests, and only our CPU can put it
	 * there: a fence holds a request back, but does not change it.
	 */
	reserve.send_flags = IBV_SEND_SIGNALED;
	post(w->ep, &reserve);
	expect_completion(w->ep, "append");
	uint64_t entry = w->log + offsetof(struct log, entry) +
			 w->old * sizeof(struct entry);
	fill.wr.rdma.remote_addr = entry;
	valid.wr.rdma.remote_addr = entry + offsetof(struct entry, valid);
	fill.next = &valid; /* WRITE stays behind WRITE, without a fence */
	valid.send_flags = IBV_SEND_SIGNALED;
	post(w->ep, &fill);
	expect_completion(w->ep, "append");
	return w->old;
}
