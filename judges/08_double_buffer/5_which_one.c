/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/5_which_one.c - four mechanisms, three writers.
 *
 * before: long_updates is UNANSWERED: choose one, then run it
 * hint1: How many generations are published between the first look and
 * hint1: the second? How many may be, with each mechanism?
 * hint1.zh: 第一次查看和第二次查看之间，发布了几个世代？每种机制各
 * hint1.zh: 允许几个？
 * hint2: Cross out what needs too much memory, and what makes a writer
 * hint2: wait that must not. Is one record ever at rest? How many flips
 * hint2: pass in a try of the rest?
 * hint2.zh: 划掉太占内存的。写者不该等，机制却让它等的，也划掉。单份记录有没有不在
 * hint2.zh: 更新的时候？其余的机制，一次尝试期间会切换几次？
 */
#include "5_which_one.h"

#include "buffers.h"

static const char *const names[] = { "VERSION", "TWO_BUFFERS", "FOUR_BUFFERS",
				     "LEASE" };
static const uint64_t numbers[] = { 1, 2, 4, 2 }; /* of buffers */

static const struct problem {
	const char *name;
	const int *choice;
	uint64_t buffers; /* that there is memory for */
	bool may_wait;
	const char *moves; /* the writer's, before each request */
	int in_a_read;     /* and in the middle of a READ of a buffer */
} problems[] = {
	{ .name = "long_updates",
	  .choice = &long_updates,
	  .buffers = 2,
	  .moves = "00002",
	  .in_a_read = 0 },
	{ .name = "never_rests",
	  .choice = &never_rests,
	  .buffers = 4,
	  .moves = "1",
	  .in_a_read = 1 },
	{ .name = "slow_reader",
	  .choice = &slow_reader,
	  .buffers = 2,
	  .may_wait = true,
	  .moves = "0",
	  .in_a_read = 20 },
};

/* Does the client accept what it has READ? */
static bool try_it(int how)
{
	static uint64_t to[WORDS];
	uint64_t g = fetch_generation();
	int version = halves; /* it is odd again as soon as it was even */

	if (how == LEASE) {
		add_to_lease(g % 2, 1);
		bool accepted = fetch_generation() == g;
		if (accepted)
			fetch_buffer(to, g % 2);
		add_to_lease(g % 2, -1);
		return accepted;
	}
	fetch_buffer(to, g % buffers);
	uint64_t now = fetch_generation();
	if (how == VERSION)
		return halves == version && version % 2 == 0;
	return now - g <= buffers - 2;
}

static void run_problem(const struct problem *p)
{
	int how = *p->choice, accepted = 0;

	about("%s, %s", p->name, names[how]);
	start(numbers[how], p->moves);
	in_a_read = p->in_a_read;
	write_halves(1); /* at work when the client comes */
	if (buffers > p->buffers)
		wrong("no memory for %d buffers", (int)buffers);
	for (int i = 0; i < 20; i++)
		accepted += try_it(how);
	if (waited && !p->may_wait)
		wrong("the writer had to wait for a reader");
	if (accepted == 0)
		wrong("20 tries, and none was accepted");
}

void judge(void)
{
	buffers_up();
	for (int i = 0; i < 3; i++)
		must_choose_as(problems[i].name, *problems[i].choice, VERSION,
			       TWO_BUFFERS, FOUR_BUFFERS, LEASE);
	for (int i = 0; i < 3; i++)
		run_problem(&problems[i]);
}
