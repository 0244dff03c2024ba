/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/1_what_comes.c - four buffers, a reader between.
 *
 * before: two_and_a_half is UNANSWERED: choose one, then run it
 * hint1: Into which buffer does the writer write after g + 2 is
 * hint1: published? After g + 3?
 * hint1.zh: 发布 g + 2 之后，写者写哪块缓冲区？发布 g + 3 之后，又写哪块？
 * hint2: Draw the four buffers with the generation that is in each half,
 * hint2: at each READ. What the reader decides depends on the two
 * hint2: generations only, not on what is in there.
 * hint2.zh: 画出四块缓冲区，标明每次 READ 时每一半里的世代号。读者怎么决定，只
 * hint2.zh: 看两个世代号，不看里面的数据。
 * gives away: 12, in buffer 0
 * gives away: whole, but of another generation
 * gives away: thrown away although
 * gives away: four flips
 */
#include "1_what_comes.h"

#include "buffers.h"

/* What a reader does that looks only at the index, or at all of the number. */
static int experiment(const char *the_moves, bool index)
{
	static uint64_t to[WORDS];

	start(BUFFERS, the_moves);
	uint64_t g = fetch_generation();
	fetch_buffer(to, g % BUFFERS);
	uint64_t now = fetch_generation();

	bool accepted =
		index ? now % BUFFERS == g % BUFFERS : now - g <= BUFFERS - 2;
	if (is_torn(to))
		return accepted ? ACCEPTED_TORN : REJECTED_TORN;
	if (to[0] >> 16 != g)
		return accepted ? ACCEPTED_OTHER : REJECTED_OTHER;
	return accepted ? ACCEPTED_WHOLE : REJECTED_WHOLE;
}

#define ALL_SIX                                                        \
	REJECTED_WHOLE, REJECTED_OTHER, REJECTED_TORN, ACCEPTED_WHOLE, \
		ACCEPTED_OTHER, ACCEPTED_TORN

void judge(void)
{
	buffers_up();
	must_choose(two_and_a_half, ALL_SIX);
	must_choose(three, ALL_SIX);
	must_choose(index_only, ALL_SIX);
	check_answer(two_and_a_half, experiment("0050", false),
		     "two_and_a_half: in which buffer the writer is at work");
	check_answer(
		three, experiment("0060", false),
		"three: which buffer comes next, and is the writer in it?");
	check_answer(
		index_only, experiment("0800", true),
		"index_only: what four generations do to index and buffer");
}
