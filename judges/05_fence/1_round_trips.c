/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/1_round_trips.c - lists of requests on a slow wire.
 *
 * before: list_a is UNANSWERED: choose one, then run it
 * hint1: For which kinds of request does a fence wait? Which requests
 * hint1: wait behind a request that waits?
 * hint1.zh: fence 等哪几种请求？一个请求在等，哪些请求也跟着等？
 * hint2: Draw a line from left to right for each request of the list. Two
 * hint2: requests overlap unless a fence is between them and a READ or
 * hint2: atomic is before it.
 * hint2.zh: 给链表中的每个请求从左到右画一条线。两个请求会重叠，除非它们之间有
 * hint2.zh: fence，而且 fence 前面有 READ 或原子操作。
 * gives away: A fenced READ or ATOMIC does not wait
 * gives away: makes READ→READ
 * gives away: two READs at once
 */
#include <ctype.h>
#include <string.h>

#include "1_round_trips.h"

/* The peer's answers are late by DELAY, never earlier: no try takes less than
 * its round trips. A busy machine makes a try longer: the best one counts, and an
 * answer of fewer trips than were seen gets more tries. */
enum { DELAY = 30, TRIES = 8, N = 4 };

/* R, W, A for READ, WRITE, ATOMIC; a small letter has the fence. */
static const struct list {
	const int *answer;
	const char *requests;
	const char *look_at;
} lists[] = {
	{ .answer = &list_a,
	  .requests = "RRrW",
	  .look_at = "list A: what waits behind the READ|F?" },
	{ .answer = &list_b,
	  .requests = "RwRw",
	  .look_at = "list B: when does each READ start?" },
	{ .answer = &list_c,
	  .requests = "WrW",
	  .look_at = "list C: which READ is before the fence?" },
	{ .answer = &list_d,
	  .requests = "Waar",
	  .look_at = "list D: for what does each fence wait?" },
};
static const enum ibv_wr_opcode opcodes[] = {
	['R'] = IBV_WR_RDMA_READ,
	['W'] = IBV_WR_RDMA_WRITE,
	['A'] = IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static int round_trips(struct duo *d, const struct list *l)
{
	static uint64_t mine, theirs[N];
	struct ibv_sge sge = piece(&mine, 8, open_memory(&d->you, &mine, 8));
	struct ibv_mr *to = open_memory(&d->peer, theirs, sizeof theirs);
	struct ibv_send_wr wr[N];
	int n = (int)strlen(l->requests), trips = 99;

	for (int i = 0; i < n; i++) {
		unsigned char kind = (unsigned char)l->requests[i];

		wr[i] = request(opcodes[toupper(kind)], &sge, &theirs[i], to);
		wr[i].send_flags = islower(kind) ? IBV_SEND_FENCE : 0;
		if (i < n - 1)
			wr[i].next = &wr[i + 1];
		else
			wr[i].send_flags |= IBV_SEND_SIGNALED;
	}
	for (int i = 0; i < TRIES || (trips > *l->answer && i < 5 * TRIES);
	     i++) {
		double start = now_ms();

		post(&d->you, wr);
		expect_completion(&d->you, "the list");
		double took = (now_ms() - start) / DELAY;
		trips = took < trips ? (int)took : trips;
	}
	return trips;
}

void judge(void)
{
	struct duo d;

	duo_open(&d, (struct ibv_qp_cap){ .max_send_wr = N });
	must_choose(list_a, ONE, TWO, THREE, FOUR);
	must_choose(list_b, ONE, TWO, THREE, FOUR);
	must_choose(list_c, ONE, TWO, THREE, FOUR);
	must_choose(list_d, ONE, TWO, THREE, FOUR);
	/* Late is not lost: rxe repeats no READ with a fence (docs/rxe.md). */
	d.you.timeout = 19;
	duo_connect(&d, 0, ALL_REMOTE);
	late_answers(&d, DELAY);
	for (int i = 0; i < 4; i++)
		check_answer(*lists[i].answer, round_trips(&d, &lists[i]),
			     lists[i].look_at);
}
