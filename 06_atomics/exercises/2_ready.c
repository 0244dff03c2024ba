/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.2 - extend: only one may set the flag          * 10 minutes
 *
 * Several clients have finished the same job. The first client sets the flag in
 * the peer's memory from 0 to 1, and reports the result. Any other value of the
 * flag stays as it is.
 *
 *	struct flag {
 *		struct ep *ep;
 *		uint64_t addr;  // of the flag, 8 bytes in the peer's memory
 *		uint32_t rkey;  // of its region
 *		uint64_t *old;  // ours: room for the old value
 *		uint32_t lkey;  // of the region that old is in
 *	};
 *
 * Write set_ready() with one request. It returns true if and only if this call
 * has changed the flag from 0 to 1. Its request is complete when it returns.
 * The version below goes wrong as soon as there are two clients.
 *
 * The judge calls set_ready() four times, with the flag at 0, 1 and 7 << 32, and lets
 * another client come first. It compares the flag and what you return.
 */
#include "2_ready.h"

bool set_ready(const struct flag *f)
{
	struct ibv_sge sge = { .addr = (uintptr_t)f->old,
			       .length = 8,
			       .lkey = f->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ, /* TODO 6.2 */
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = f->addr, .rkey = f->rkey },
	};

	post(f->ep, &wr);
	expect_completion(f->ep, "set_ready, READ");
	if (*f->old != 0)
		return false;
	*f->old = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	post(f->ep, &wr);
	expect_completion(f->ep, "set_ready, WRITE");
	return true;
}
