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
	const char *lists;
} designs[] = {
	{ .name = "lock_read", .answer = &lock_read, .lists = "LR|U" },
	{ .name = "lock_update", .answer = &lock_update, .lists = "L|WU" },
	{ .name = "version_read", .answer = &version_read, .lists = "v|R|v" },
	{ .name = "version_update",
	  .answer = &version_update,
	  .lists = "o|We" },
	{ .name = "checksum_read", .answer = &checksum_read, .lists = "R" },
	{ .name = "buffers_read", .answer = &buffers_read, .lists = "g|B|g" },
	{ .name = "buffers_update", .answer = &buffers_update, .lists = "bp" },
	{ .name = "count_read", .answer = &count_read, .lists = "g|+gB|-" },
	{ .name = "send_read", .answer = &send_read, .lists = "s" },
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
			     all_lists(&a, designs[i].lists), designs[i].name);
}
