/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.5 - a key that can be taken back */
#include "5_window.h"

uint32_t lend(struct ep *ep, struct ibv_mw *mw, struct ibv_mr *mr, char *p,
	      size_t len)
{
	struct ibv_mw_bind_info part = {
		.mr = mr,
		.addr = (uintptr_t)p,
		.length = len,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_send_wr bind = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw,
			     .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = part },
	};

	post(ep, &bind);
	expect_completion(ep, "BIND_MW"); /* not before this may it be told */
	mw->rkey = bind.bind_mw.rkey;
	return mw->rkey;
}

void take_back(struct ep *ep, struct ibv_mw *mw)
{
	struct ibv_send_wr inv = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	};

	post(ep, &inv);
	expect_completion(ep, "LOCAL_INV");
}
