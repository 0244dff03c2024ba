/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/1_round_trips.c - does each of them, and counts.
 *
 * before: lock_read is UNANSWERED: choose one, then run it
 * hint1: For each request: whose result must be here before it can be
 * hint1: posted, and behind which requests is it executed in order
 * hint1: anyway?
 * hint1.zh: 逐个请求看：谁的结果到手之后，才能投递它？排在哪些请求后面，它本来
 * hint1.zh: 就按序执行？
 * hint2: A WRITE needs the old value of the swap, a READ does not: if
 * hint2: somebody else has the lock, throw its bytes away. The matrix of
 * hint2: lesson 05: what may stand behind a WRITE, an atomic, a READ?
 * hint2.zh: WRITE 需要交换得到的旧值，READ 不需要：锁在别人手里，就扔掉取回的数
 * hint2.zh: 据。第 5 课的矩阵：WRITE、原子操作、READ 后面，各可以放什么？
 * gives away: three round trips
 * gives away: two round trips
 * gives away: a SEND and its answer are one
 * gives away: the swap and the READ
 */
#include "1_round_trips.h"

#include "designs.h"

static const struct {
	const char *name;
	const int *answer;
	const char *lists, *look_at;
} designs[] = {
	{ "lock_read", &lock_read, "LR|U",
	  "lock_read: which requests need what the first swap brings?" },
	{ "lock_update", &lock_update, "L|WU",
	  "lock_update: may the WRITE be posted before the lock is yours?" },
	{ "checksum_read", &checksum_read, "R",
	  "checksum_read: what must be known before the READ?" },
	{ "buffers_read", &buffers_read, "g|B|g",
	  "buffers_read: what must be known before each READ?" },
	{ "buffers_update", &buffers_update, "bp",
	  "buffers_update: what must be known before the FETCH_AND_ADD?" },
	{ "count_read", &count_read, "g|+gB|-",
	  "count_read: which of the five needs what the one before it "
	  "brings?" },
	{ "send_read", &send_read, "s", "send_read: when is the answer here?" },
};
enum { N = sizeof designs / sizeof designs[0] };

void judge(void)
{
	static struct actor a;

	for (int i = 0; i < N; i++)
		must_choose_as(designs[i].name, *designs[i].answer, 1, 2, 3, 4,
			       5, 6);
	designs_up();
	actor_up(&a);
	for (int i = 0; i < N; i++)
		check_answer(*designs[i].answer,
			     all_lists(&a, designs[i].lists),
			     designs[i].look_at);
}
