/* SPDX-License-Identifier: MIT */
/* Solution of exercise 3.3 - many records through four slots */
#include "3_four_slots.h"

static void read_record(struct ep *ep, const struct records *r, int i, int slot)
{
	struct ibv_sge into = {
		.addr = (uintptr_t)r->slots[slot],
		.length = RECORD,
		.lkey = r->lkey,
	};
	struct ibv_send_wr read = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &into,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = r->addr + (uint64_t)i * RECORD,
			     .rkey = r->rkey },
	};

	post(ep, &read);
}

void fetch_all(struct ep *ep, const struct records *r, int n)
{
	for (int i = 0; i < n && i < SLOTS; i++)
		read_record(ep, r, i, i);
	for (int i = 0; i < n; i++) {
		expect_completion(ep, "READ");
		take(i);
		if (i + SLOTS < n) /* the slot of record i is free */
			read_record(ep, r, i + SLOTS, i % SLOTS);
	}
}
