/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.2 - extend: only one may set the flag          * 15 minutes
 *
 * Several clients have finished the same job. The first client sets the flag in
 * the peer's memory from 0 to 1, and reports the result. Any other value of the
 * flag stays as it is.
 *
 * Write set_ready() with one request. It returns true if and only if this call
 * has changed the flag from 0 to 1. Its request is complete when it returns.
 * The fields of struct flag are in judges/06_atomics/2_ready.h. The version
 * below goes wrong as soon as there are two clients.
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
