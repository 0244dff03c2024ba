/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/5_choose.c - one of four ways, and a client in between.
 *
 * before: hits is UNANSWERED: choose one, then run it
 * hint1: What happens if another client changes the word after your READ?
 * hint1: And what does somebody see who reads between two of your
 * hint1: requests?
 * hint1.zh: 你 READ 之后，别的客户端改了这个字，会怎样？有人在你的两个请求之间
 * hint1.zh: 来读，会看到什么？
 * hint2: Ask of each problem: is it one word? If so: is the new value a
 * hint2: sum? An atomic changes one word; only a lock covers more.
 * hint2.zh: 逐个问题问：只是一个字吗？如果是：新值是相加的结果吗？一个原子操作
 * hint2.zh: 只改一个字；再多，就只有锁能保护。
 */
#include "5_choose.h"
#include "words_judge.h"

enum { A, B, LOCK_WORD }; /* the words */

static bool is_sum; /* or the larger one */
static uint64_t want, theirs_by;

static uint64_t change(uint64_t v, uint64_t by)
{
	if (is_sum)
		return v + by;
	return v > by ? v : by;
}

/* Brings word n from v to change(v, by), in the way that was chosen. */
static void update(int how, int n, uint64_t by)
{
	if (how == FETCH_AND_ADD && is_sum) {
		fetch_and_add(n, by);
		return;
	}
	uint64_t v = read_word(n), old;
	if (how == FETCH_AND_ADD) /* what is missing */
		fetch_and_add(n, change(v, by) - v);
	else if (how == SWAP_LOOP)
		while ((old = compare_and_swap(n, v, change(v, by))) != v)
			v = old;
	else
		write_word(n, change(v, by));
}

/* It respects the lock. It changes A after our first request, or looks at both. */
static void other_client(const struct ibv_send_wr *wr)
{
	(void)wr;
	if (words[LOCK_WORD])
		return;
	if (words[B] && words[A] + words[B] != 100)
		wrong("another client finds %d in both, and not 100",
		      (int)(words[A] + words[B]));
	if (seen.posted != 1 || words[B])
		return;
	words[A] = change(words[A], theirs_by);
	want = change(want, theirs_by);
}

static void run(const char *problem, int how, uint64_t by, int best)
{
	static const char *const names[] = { "READ_THEN_WRITE", "FETCH_AND_ADD",
					     "SWAP_LOOP", "LOCK" };

	about("%s, %s", problem, names[how]);
	want = change(words[A], by);
	watch(&duo.you, &(struct watch){ .posts = other_client });
	if (how == LOCK)
		compare_and_swap(LOCK_WORD, 0, 1);
	update(how, A, by);
	if (words[B])
		update(how, B, -by);
	if (how == LOCK)
		compare_and_swap(LOCK_WORD, 1, 0);
	if (words[A] != want)
		wrong("another client's %d comes in between: the word must be "
		      "%d, and is %d",
		      (int)theirs_by, (int)want, (int)words[A]);
	if (seen.posted > best)
		wrong("right, but %d requests: %d would do", seen.posted, best);
}

void judge(void)
{
	open_words();
	must_choose(hits, READ_THEN_WRITE, FETCH_AND_ADD, SWAP_LOOP, LOCK);
	must_choose(highest, READ_THEN_WRITE, FETCH_AND_ADD, SWAP_LOOP, LOCK);
	must_choose(transfer, READ_THEN_WRITE, FETCH_AND_ADD, SWAP_LOOP, LOCK);

	words[A] = 50;
	theirs_by = 70;
	run("highest", highest, 60, 3);
	is_sum = true;
	words[A] = 10;
	theirs_by = 1;
	run("hits", hits, 1, 1);
	words[A] = 40;
	words[B] = 60;
	run("transfer", transfer, 25, 6);
}
