/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.4 - extend: no addresses at all                 ** 30 minutes
 *
 * The peer registered its memory with ibv_reg_mr_iova(), from 0 on. A remote
 * address is then an offset, and nobody needs to know where the memory is. The
 * memory begins with a directory: entry i is at offset i * sizeof(struct entry).
 * The entry says where record i is, and how long, both in big endian.
 *
 *	struct entry { uint32_t offset, len; };
 *	struct place {		yours, all of it in region lkey
 *		struct entry entry;
 *		char head[HEAD], gap[64], body[BODY], end[64];
 *	};
 *	enum { HEAD = 32, BODY = 992 };
 *
 * Write fetch_record(). It gets record i, and returns the length of the record:
 *
 * - READ entry i into mine->entry. Wait for it.
 * - READ the record, with one request: its first HEAD bytes into mine->head, the
 *   rest into mine->body. A record of HEAD bytes or less does not reach the body.
 * - Never trust a length from the network. If the record does not fit into head
 *   and body, return -1 and do not READ it.
 *
 * be32toh() turns a number in big endian into one that your CPU understands.
 * The judge fetches nine records, one of 0 bytes, and compares all of struct place:
 * nothing may be written to gap and end.
 */
#include <endian.h>

#include "4_offsets.h"

/* READs from that offset on into n pieces of memory, and waits. */
static void read_into(struct ep *ep, uint32_t rkey, uint64_t offset,
		      struct ibv_sge *pieces, int n)
{
	struct ibv_send_wr read = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = pieces,
		.num_sge = n,
		.wr.rdma = { .remote_addr = offset, .rkey = rkey },
	};

	post(ep, &read);
	expect_completion(ep, "READ");
}

int fetch_record(struct ep *ep, struct place *mine, uint32_t lkey,
		 uint32_t rkey, int i)
{
	struct ibv_sge entry = {
		.addr = (uintptr_t)&mine->entry,
		.length = sizeof mine->entry,
		.lkey = lkey,
	};

	read_into(ep, rkey, (uint64_t)i * sizeof mine->entry, &entry, 1);
	return -1; /* TODO 3.4 */
}
