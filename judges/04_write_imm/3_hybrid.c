/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/3_hybrid.c - a peer that offers memory, piece by piece.
 *
 * before: offer 0: you post a request before you took the peer's message
 * hint1: Whose completion comes first, and what is in w->offer before it? When
 * hint1: "done" is received, where is the data of a WRITE that was posted
 * hint1: before it, on the same QP?
 * hint1.zh: 谁的 CQE 先到？在它之前，w->offer 里有什么？收到“done”的时候，同一
 * hint1.zh: 个 QP 上在它前面投递的 WRITE，数据在哪里？
 * hint2: expect_completion() for the message. Then write.next = &done; only
 * hint2: "done" is SIGNALED. The remote address is be64toh(w->offer.addr), the
 * hint2: key be32toh(w->offer.rkey). Compare be32toh(w->offer.len) with w->n
 * hint2: before you use either.
 * hint2.zh: 先用 expect_completion() 等消息。再设 write.next = &done；只有
 * hint2.zh: “done”是 SIGNALED。远端地址是 be64toh(w->offer.addr)，rkey 是
 * hint2.zh: be32toh(w->offer.rkey)。长度 be32toh(w->offer.len) 和 w->n 先比较，
 * hint2.zh: 再使用。
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "3_hybrid.h"
#include "looks.h"

const char *an_error_ends_it = "1u"; /* of the offer, of "done" */

/* Of each offer: where, its room, how much you have, how much you write. The last
 * room does not fit 16 bits, nor an int. */
static const struct {
	uint32_t at, room, have, writes;
} offers[] = { { .at = 100, .room = 9000, .have = 9000, .writes = 9000 },
	       { .at = 9500, .room = 3000, .have = 5000, .writes = 3000 },
	       { .at = 77, .room = 0x80010005, .have = 800, .writes = 800 } };
enum { OFFERS = sizeof offers / sizeof *offers, SIZE = 14000 };

static struct duo d;
static struct {
	struct work work;
	char data[SIZE];
} yours;
static char memory[SIZE], right[SIZE];
static struct offer offer; /* the message, as the peer SENDs it */
static struct ibv_mr *offer_mr;
static bool offered;

static void posts(const struct ibv_send_wr *wr)
{
	bool is_write = wr->opcode == IBV_WR_RDMA_WRITE;
	uint32_t room = be32toh(offer.len);

	if (seen.found == 0)
		wrong("you post a request before you took the peer's message");
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && seen.posted == 0)
		wrong("a WRITE with an immediate: \"done\" must have it");
	if (!is_write && seen.posted == 0)
		wrong("\"done\" was posted, and no WRITE before it");
	if (wr->opcode == IBV_WR_SEND_WITH_IMM && wr->num_sge &&
	    wr->sg_list->length)
		wrong("\"done\" has bytes, and it must be empty");
	if (is_write && wr->wr.rdma.remote_addr != be64toh(offer.addr))
		wrong("the WRITE goes to another address than offered");
	if (is_write && wr->wr.rdma.rkey != be32toh(offer.rkey))
		wrong("the WRITE has another rkey than offered");
	if (wr->num_sge && wr->sg_list->length > room)
		wrong("a WRITE of %u bytes, and there is room for %u",
		      wr->sg_list->length, room);
	if (wr->num_sge && wr->sg_list->length > yours.work.n)
		wrong("a WRITE of %u bytes, and you have %u",
		      wr->sg_list->length, yours.work.n);
}

/* The offer comes when you wait for it, and not before. */
static void looks(void)
{
	if (!offered) {
		struct ibv_sge sge = piece(&offer, sizeof offer, offer_mr);

		offered = true;
		execute(&d.peer, (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
						       .sg_list = &sge,
						       .num_sge = 1 });
	} else if (seen.found == seen.signaled + 1 && seen.in_vain > A_WAIT) {
		wrong("you wait, and %s",
		      seen.signaled ? "all that is SIGNALED has completed"
		      : seen.posted < 2
			      ? "\"done\" is not posted"
			      : "nothing that you posted is SIGNALED");
	}
}

/* After an offer: len bytes must be at right + at. */
static void look_at_it(uint32_t at, uint32_t len)
{
	struct ibv_wc wc;

	if (seen.posted < 2 || !completes_within(&d.peer, 1000, &wc) ||
	    wc.status != IBV_WC_SUCCESS)
		wrong("there was no \"done\"");
	if (wc.opcode != IBV_WC_RECV || !(wc.wc_flags & IBV_WC_WITH_IMM))
		wrong("\"done\" is no SEND_WITH_IMM");
	memset(right, '?', SIZE);
	memcpy(right + at, yours.data, len);
	if (memcmp(memory, right, SIZE) != 0)
		wrong("\"done\", and the memory is not as it must be");
	if (ntohl(wc.imm_data) != len)
		wrong("the immediate says %u bytes, and it was %u",
		      ntohl(wc.imm_data), len);
	enough(1, 2, 1);
	if (!seen.last_signaled)
		wrong("no completion says that \"done\" was sent");
	if (seen.found < 2)
		wrong("you did not take the completion");
}

void judge(void)
{
	static const struct watch eyes = { .posts = posts,
					   .looks = looks,
					   .lets_find = patient_look };

	duo_up(&d);
	for (int k = 0; k < SIZE; k++)
		yours.data[k] = (char)('A' + k % 23);
	struct ibv_mr *mr = open_memory(&d.you, &yours, sizeof yours);
	offer_mr = open_memory(&d.peer, &offer, sizeof offer);

	for (int i = 0; i < OFFERS; i++) {
		struct ibv_mr *to = open_memory(&d.peer, memory, SIZE);

		about("offer %d", i);
		offered = false;
		offer = (struct offer){
			.addr = htobe64((uintptr_t)memory + offers[i].at),
			.rkey = htobe32(to->rkey),
			.len = htobe32(offers[i].room),
		};
		yours.work = (struct work){ .data = yours.data,
					    .n = offers[i].have,
					    .lkey = mr->lkey };
		memset(memory, '?', SIZE);
		add_receive(&d.you, 0, &yours.work.offer, sizeof offer, mr);
		add_receive(&d.peer, 0, NULL, 0, NULL);
		watch(&d.you, &eyes);
		fill(&d.you, &yours.work);
		look_at_it(offers[i].at, offers[i].writes);
	}
}
