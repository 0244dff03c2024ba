/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/3_hybrid.c - a peer that offers memory, piece by piece.
 *
 * before: offer 0: "done" was posted, and no WRITE before it
 * hint1: When "done" is received, where is the data of a WRITE that was
 * hint1: posted before it, on the same QP? What does the completion of
 * hint1: "done" say of that WRITE?
 * hint2: write.next = &done; only "done" is SIGNALED. The remote address
 * hint2: is be64toh(offer->addr), the key be32toh(offer->rkey). Compare
 * hint2: be32toh(offer->len) with n before you use either.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "3_hybrid.h"

/* Of each offer: where, its room, how much you have, how much you write. */
static const struct {
	uint32_t at, room, have, writes;
} offers[] = { { .at = 100, .room = 9000, .have = 9000, .writes = 9000 },
	       { .at = 9500, .room = 3000, .have = 5000, .writes = 3000 },
	       { .at = 77, .room = 5000, .have = 800, .writes = 800 } };
enum { OFFERS = sizeof offers / sizeof *offers, SIZE = 14000 };

static char data[SIZE], memory[SIZE], right[SIZE];
static uint64_t addr; /* of this offer */
static uint32_t room;

static void posts(const struct ibv_send_wr *wr)
{
	bool is_write = wr->opcode == IBV_WR_RDMA_WRITE;

	if (!is_write && seen.posted == 0)
		wrong("\"done\" was posted, and no WRITE before it");
	if (is_write && wr->wr.rdma.remote_addr != addr)
		wrong("the WRITE goes to another address than offered");
	if (wr->num_sge && wr->sg_list->length > room)
		wrong("a WRITE of %u bytes, and there is room for %u",
		      wr->sg_list->length, room);
}

static void looks(void)
{
	if (seen.found == seen.signaled)
		wrong("you wait, and nothing that you posted is SIGNALED");
}

/* After an offer: len bytes must be at right + at. */
static void look_at_it(struct ep *peer, uint32_t at, uint32_t len)
{
	struct ibv_wc wc;

	if (!completes_within(peer, 1000, &wc) || wc.status != IBV_WC_SUCCESS)
		wrong("there was no \"done\"");
	memset(right, '?', SIZE);
	memcpy(right + at, data, len);
	if (memcmp(memory, right, SIZE) != 0)
		wrong("\"done\", and the memory is not as it must be");
	if (ntohl(wc.imm_data) != len)
		wrong("the immediate says %u bytes, and it was %u",
		      ntohl(wc.imm_data), len);
	enough(1, 2, 1);
	if (seen.found == 0)
		wrong("you did not take the completion");
}

/* The peer SENDs its offer, and you have received it: here it is. */
static const struct offer *take_offer(struct duo *d, struct ibv_mr *to)
{
	static struct offer sent, came;
	static struct ibv_mr *out, *in;
	struct ibv_wc wc;

	if (!in) {
		out = open_memory(&d->peer, &sent, sizeof sent);
		in = open_memory(&d->you, &came, sizeof came);
	}
	sent = (struct offer){ .addr = htobe64(addr),
			       .rkey = htobe32(to->rkey),
			       .len = htobe32(room) };
	memset(&came, 0, sizeof came);
	add_receive(&d->you, 0, &came, sizeof came, in);
	watch(&d->you, NULL);
	struct ibv_sge offer = piece(&sent, sizeof sent, out);
	execute(&d->peer, (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
						.sg_list = &offer,
						.num_sge = 1 });
	if (!completes_within(&d->you, 1000, &wc) ||
	    wc.status != IBV_WC_SUCCESS || wc.byte_len != sizeof came)
		die("the offer did not arrive");
	return &came;
}

void judge(void)
{
	static const struct watch eyes = { .posts = posts, .looks = looks };
	struct duo d;

	duo_up(&d);
	memset(data, 'd', SIZE);
	struct ibv_mr *from = open_memory(&d.you, data, SIZE);
	struct ibv_mr *to = open_memory(&d.peer, memory, SIZE);

	for (int i = 0; i < OFFERS; i++) {
		about("offer %d", i);
		room = offers[i].room;
		addr = (uintptr_t)memory + offers[i].at;

		memset(memory, '?', SIZE);
		const struct offer *offer = take_offer(&d, to);
		add_receive(&d.peer, 0, NULL, 0, NULL);
		watch(&d.you, &eyes);
		fill(&d.you, offer, data, offers[i].have, from->lkey);
		look_at_it(&d.peer, offers[i].at, offers[i].writes);
	}
}
