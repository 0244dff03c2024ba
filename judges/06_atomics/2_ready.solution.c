/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.2 - only one may set the flag */
#include "2_ready.h"

bool set_ready(const struct flag *f)
{
	struct ibv_sge sge = { .addr = (uintptr_t)f->old,
			       .length = 8,
			       .lkey = f->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.atomic = { .remote_addr = f->addr,
			       .compare_add = 0,
			       .swap = 1,
			       .rkey = f->rkey },
	};

	post(f->ep, &wr);
	expect_completion(f->ep, "set_ready");
	return *f->old == 0; /* the status says success in either case */
}
