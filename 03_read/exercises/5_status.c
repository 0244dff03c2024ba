/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.5 - extend: the data by READ, the answer by SEND   *** 40 minutes
 *
 * You are a disk. A host has n commands for you: "write this block". You fetch
 * each block from the host's memory with a READ, look whether its checksum is
 * right, and SEND a status. When the host has the status, it uses the memory of
 * the block for something else.
 *
 *	struct command { uint64_t addr; uint32_t rkey, len, sum, tag; };
 *	struct status { uint32_t tag, result; };   GOOD, BAD_SUM or TOO_LONG
 *	uint32_t checksum(const char *p, uint32_t len);
 *	enum { ROOM = 2000 };      bytes; no byte order: both ends are alike here
 *
 * Write serve():
 *
 * - A command with more than ROOM bytes gets the result TOO_LONG, and no READ.
 * - READ the others: command i into room + i * ROOM, with read_block(). Post all
 *   these READs before you wait for a completion.
 * - When the READ of a command is complete, SEND its struct status: with its tag,
 *   and with the result GOOD or BAD_SUM. Send this before you wait for another
 *   completion, and send it only once. The block is good if its checksum() is sum.
 * - Use IBV_SEND_INLINE for the SENDs: the status may be a local variable then.
 * - When serve() returns, no completion may be left in the queue.
 *
 * expect_completion(ep, "what") takes the next completion, of whatever kind, and
 * returns its wr_id.
 * The judge is the host. It calls serve() with n = 6, then with n = 3, and looks
 * at each status. Its receives for them are posted.
 */
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
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.sg_list = &from,
		.num_sge = 1,
	};

	post(ep, &send);
}

void serve(struct ep *ep, const struct command *c, int n, char *room,
	   uint32_t lkey)
{
	for (int i = 0; i < n; i++) { /* TODO 3.5 */
		read_block(ep, c, i, room, lkey);
		send_status(ep, c[i].tag, GOOD);
	}
}
