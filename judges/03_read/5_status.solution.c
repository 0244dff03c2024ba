/* SPDX-License-Identifier: MIT */
/* Solution of exercise 3.5 - the data by READ, the answer by SEND */
#include "5_status.h"

static void read_block(struct ep *ep, const struct command *c, int i,
		       char *room, uint32_t lkey)
{
	struct ibv_sge into = {
		.addr = (uintptr_t)room + (size_t)i * ROOM,
		.length = c[i].len,
		.lkey = lkey,
	};
	struct ibv_send_wr read = {
		.wr_id = (uint64_t)i,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &into,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = c[i].addr, .rkey = c[i].rkey },
	};

	post(ep, &read);
}

static void send_status(struct ep *ep, uint32_t tag, uint32_t result)
{
	struct status status = { .tag = tag, .result = result };
	struct ibv_sge from = {
		.addr = (uintptr_t)&status,
		.length = sizeof status,
	};
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE, /* no completion */
		.sg_list = &from,
		.num_sge = 1,
	};

	post(ep, &send);
}

void serve(struct ep *ep, const struct command *c, int n, char *room,
	   uint32_t lkey)
{
	int reads = 0;

	for (int i = 0; i < n; i++) {
		if (c[i].len > ROOM) {
			send_status(ep, c[i].tag, TOO_LONG);
			continue;
		}
		read_block(ep, c, i, room, lkey);
		reads++;
	}
	while (reads--) {
		uint64_t i = expect_completion(ep, "READ");
		uint32_t sum = checksum(room + i * ROOM, c[i].len);

		send_status(ep, c[i].tag, sum == c[i].sum ? GOOD : BAD_SUM);
	}
}
