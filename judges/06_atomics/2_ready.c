/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/2_ready.c - a flag that others set, too.
 *
 * before: the flag was 0 until somebody else set it: set_ready() says that it set the flag
 * hint1: What can happen between the READ and the WRITE? Which request
 * hint1: looks and changes in one step?
 * hint1.zh: READ 和 WRITE 之间可能发生什么？哪种请求一步就能比较并修改？
 * hint2: COMPARE_AND_SWAP: fill wr.atomic, not wr.rdma. Whether the swap
 * hint2: took place, only the old value tells, and only when the request
 * hint2: is complete.
 * hint2.zh: 用 COMPARE_AND_SWAP：填 wr.atomic，不填 wr.rdma。是否交换了，只有旧
 * hint2.zh: 值能说明，而且要等请求完成。
 */
#include "2_ready.h"
#include "wire.h"

const char *an_error_ends_it = "1";

/* The flag, and what another client makes of it before your last request. */
static const uint64_t before[] = { 0, 1, 7ULL << 32, 0 },
		      rivals[] = { 0, 0, 0, 1 };
static const char *const it_was[] = { "0", "1", "7 << 32",
				      "0 until somebody else set it" };
static uint64_t flag, old, rival;

static void set_by_rival(const struct ibv_send_wr *wr)
{
	if (rival && wr->opcode != IBV_WR_RDMA_READ)
		flag = rival;
}

void judge(void)
{
	struct duo d;

	duo_up(&d);
	const struct flag f = {
		.ep = &d.you,
		.addr = (uintptr_t)&flag,
		.rkey = open_memory(&d.peer, &flag, sizeof flag)->rkey,
		.old = &old,
		.lkey = open_memory(&d.you, &old, sizeof old)->lkey
	};
	/* The old value comes late: who reads it before the completion finds what misleads.
	 * (On a wire that is not the lab's this is left out.) */
	(void)wire_slow(&d.peer, 30);
	for (int i = 0; i < 4; i++) {
		bool yours = !before[i] && !rivals[i];

		flag = before[i];
		rival = rivals[i];
		old = 1 - flag; /* what was there misleads */
		about("the flag was %s", it_was[i]);
		watch(&d.you, &(struct watch){ .posts = set_by_rival });
		bool said = set_ready(&f);

		if (!seen.found)
			wrong("set_ready() does not wait for its request");
		if (flag != (yours ? 1 : before[i] | rival))
			wrong("now the flag is %llu", (unsigned long long)flag);
		if (said && !yours)
			wrong("set_ready() says that it set the flag");
		if (!said && yours)
			wrong("set_ready() says that somebody else set the "
			      "flag");
	}
	enough(2, 1, 1);
}
