/* SPDX-License-Identifier: MIT */
/*
 * Solution of exercise 4.3 - offered by SEND, written, done by SEND
 *
 * A piece takes three requests (offer, WRITE, done), two receives, and a round
 * trip from the offer to "done". With WRITE_WITH_IMM to known memory: one
 * request, one receive, and the peer is told after half a round trip.
 */
#include <arpa/inet.h>
#include <endian.h>

#include "3_hybrid.h"

void fill(struct ep *ep, const struct work *w)
{
	expect_completion(ep, "the receive of an offer");
	uint32_t room = be32toh(w->offer.len);
	uint32_t len = w->n < room ? w->n : room;
	struct ibv_send_wr done = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(len),
	};
	struct ibv_sge from = { .addr = (uintptr_t)w->data,
				.length = len,
				.lkey = w->lkey };
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &from,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = be64toh(w->offer.addr),
			     .rkey = be32toh(w->offer.rkey) },
		.next = &done,
	};

	post(ep, &write);
	expect_completion(ep, "done");
}
