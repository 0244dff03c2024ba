/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/4_remote_writer.c - the record, and another writer.
 *
 * before: version 0, nobody else: the data is not yours at the end
 * hint1: How do you know whether COMPARE_AND_SWAP has changed the
 * hint1: version? Whose update is it, if it found an odd version?
 * hint1.zh: 怎么知道 COMPARE_AND_SWAP 改了版本号？如果它得到的是奇数版本号，那
 * hint1.zh: 是谁在更新？
 * hint2: It has succeeded if *u->found is what you compared with. Else
 * hint2: compare with what it found next time, or with the next even
 * hint2: version if that was odd. Link u->data.next.
 * hint2.zh: *u->found 等于你用来比较的值，就是成功了。否则，下一次用它得到的值
 * hint2.zh: 比较；那个值是奇数，就用下一个偶数版本号。把 u->data.next 连起来。
 */
#include "4_remote_writer.h"

#include "looks.h"
#include "records.h"

const char *an_error_ends_it = "14u"; /* two swaps, the last request */

/* The other writer's steps, before each COMPARE_AND_SWAP of yours. */
static const struct schedule {
	const char *what, *steps;
	uint64_t version;
} schedules[] = {
	{ .what = "version 0, nobody else", .steps = "", .version = 0 },
	{ .what = "version 8, nobody else", .steps = "", .version = 8 },
	{ .what = "the other writer is at work",
	  .steps = "B..................................................E",
	  .version = 1ULL << 40 },
	{ .what = "the other writer updates between two tries",
	  .steps = ".BE",
	  .version = 8 },
	{ .what = "version 2^32, nobody else",
	  .steps = "",
	  .version = 1ULL << 32 },
};

static uint64_t found;     /* *u->found, from the completion on */
static bool pending, mine; /* COMPARE_AND_SWAP: no answer yet; succeeds */

static void on_post(const struct ibv_send_wr *wr)
{
	if (seen.posted > 60)
		wrong("60 requests, and no end");
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		step();
		if (wr->wr.atomic.compare_add % 2 != 0)
			wrong("COMPARE_AND_SWAP from an odd version");
		mine = *version == wr->wr.atomic.compare_add;
		pending = true;
	} else if (wr->opcode == IBV_WR_RDMA_WRITE) {
		if (pending)
			wrong("no answer of COMPARE_AND_SWAP before the WRITE");
		if (!mine)
			wrong("a WRITE, and COMPARE_AND_SWAP had failed");
		if (*version % 2 == 0)
			wrong("a WRITE, and the version is even");
		if (!wr->next)
			wrong("behind the WRITE, its list has no "
			      "FETCH_AND_ADD");
	}
}

static void on_found(const struct ibv_wc *wc)
{
	(void)wc;
	pending = false;
	found = own.word[0];
}

static void try_schedule(const struct schedule *s)
{
	static const struct watch w = { .posts = on_post,
					.found = on_found,
					.lets_find = patient_look };
	struct update u = {
		.odd = request(IBV_WR_ATOMIC_CMP_AND_SWP, &pieces[0],
			       &record.version, theirs),
		.data = request(IBV_WR_RDMA_WRITE, &pieces[1], record.data,
				theirs),
		.even = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &pieces[2],
				&record.version, theirs),
		.found = &found,
	};

	u.odd.send_flags = IBV_SEND_SIGNALED;
	found = own.word[0] = 3; /* odd, and of long ago */
	start(s->what, s->version, s->steps);
	watch(&d.you, &w);
	update(&d.you, &u);
	if (!seen.last_signaled)
		wrong("the last request has no completion");
	if (seen.found < seen.signaled)
		wrong("update() returned before the version was even");
	if (record.data[0] != MINE || is_torn(record.data))
		wrong("the data is not yours at the end");
	if (*version != s->version + 2 * ((uint64_t)updates + 1))
		wrong("the version is wrong at the end");
	enough(seen.posted - 1, seen.posted, seen.posted - 1);
}

void judge(void)
{
	record_up();
	for (int i = 0; i < WORDS; i++)
		own.data[i] = MINE;
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
		try_schedule(&schedules[i]);
}
