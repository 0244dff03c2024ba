/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/3_ticket.c - a queue of clients, of which you are one.
 *
 * before: round 1: unlock() serves your ticket +0, and not +1
 * hint1: lock() takes a ticket and goes in. For what does it have to
 * hint1: wait? Who makes that happen?
 * hint1.zh: lock() 取了号就进去了。它必须先等到什么？那又由谁促成？
 * hint2: Look at SERVING until it is your ticket; "is", and not "is at
 * hint2: least". Leaving makes it one more.
 * hint2.zh: 反复查看 SERVING，直到它是你的号；是“等于”，不是“大于等于”。离开时
 * hint2.zh: 把它加 1。
 */
#include <time.h>
#include <unistd.h>

#include "3_ticket.h"
#include "words_judge.h"

static const struct {
	uint64_t serving, waiting; /* when you come */
} rounds[] = { { .serving = 0, .waiting = 0 },
	       { .serving = 1ULL << 40, .waiting = 600 },
	       { .serving = UINT64_MAX - 1, .waiting = 3 } };
static uint64_t ticket;                 /* yours */
static bool overtaken, looked, between; /* your READ of NEXT and your ticket */
static int late; /* looks at NEXT behind your ticket: one comes at the first */
static bool by_atomic;    /* lock() looks at SERVING by one */
enum { FOR_EVER = 2000 }; /* requests */

/* A READ, or an atomic that changes nothing. */
static bool only_looks(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ ||
	       (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD &&
		wr->wr.atomic.compare_add == 0) ||
	       (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP &&
		wr->wr.atomic.compare_add == wr->wr.atomic.swap);
}

static void nobody_came_between(void)
{
	if (between || late == 1)
		wrong("another client came between your READ of NEXT and your "
		      "FETCH_AND_ADD");
}

/* Each other client is served for two of your requests. One more comes just before
 * your first swap, or between a READ of NEXT and your ticket. */
static void in_lock(const struct ibv_send_wr *wr)
{
	bool at_next = wr->wr.rdma.remote_addr == (uintptr_t)&words[NEXT];

	if (only_looks(wr)) {
		by_atomic |= !at_next && wr->opcode != IBV_WR_RDMA_READ;
		if (at_next && words[NEXT] == ticket)
			looked = true;
		else if (at_next && ++late == 1)
			words[NEXT]++;
		if (seen.posted > FOR_EVER && overtaken &&
		    words[NEXT] == ticket)
			wrong("you have no ticket: another client came before "
			      "your swap");
		if (seen.posted > FOR_EVER) {
			nobody_came_between();
			wrong("your ticket is served: lock() does not return");
		}
		if (seen.posted % 2 == 0 && words[SERVING] != ticket)
			words[SERVING]++;
		return;
	}
	if (wr->wr.rdma.remote_addr == (uintptr_t)&words[SERVING])
		wrong("lock() changes the number that is served");
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		wrong("a ticket by READ and WRITE: others have it, too");
	if (words[NEXT] != ticket)
		wrong("lock() takes a second ticket");
	if ((wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || looked) && !overtaken) {
		overtaken = true;
		between = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
		words[NEXT] = ++ticket;
	}
}

/* A pause takes no time here: others are served meanwhile. */
static int pauses(void)
{
	for (int n = 0; n < 60 && words[NEXT] != ticket; n++)
		words[SERVING] += words[SERVING] != ticket;
	return 0;
}

int usleep(useconds_t us)
{
	(void)us;
	return pauses();
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t, (void)left;
	return pauses();
}

unsigned sleep(unsigned s)
{
	(void)s;
	return (unsigned)pauses();
}

static void in_unlock(const struct ibv_send_wr *wr)
{
	if (by_atomic && wr->opcode == IBV_WR_RDMA_WRITE)
		wrong("the atomic of a client that waits may undo your WRITE");
}

void judge(void)
{
	open_words();
	for (int i = 0; i < 3; i++) {
		about("round %d", i + 1);
		words[SERVING] = rounds[i].serving;
		words[NEXT] = words[SERVING] + rounds[i].waiting;
		ticket = words[NEXT];
		overtaken = looked = between = by_atomic = false;
		late = 0;
		watch(&duo.you, &(struct watch){ .posts = in_lock });
		uint64_t got = lock();
		if (got != ticket)
			nobody_came_between();
		if (got != ticket || words[NEXT] != ticket + 1 + (late > 0))
			wrong("lock() did not take and return a ticket");
		if (words[SERVING] != ticket)
			wrong("lock() returned with %d clients before you",
			      (int)(ticket - words[SERVING]));
		words[NEXT] += 2; /* more come */
		watch(&duo.you, &(struct watch){ .posts = in_unlock });
		unlock(ticket);
		if (words[SERVING] != ticket + 1)
			wrong("unlock() serves your ticket %+d, and not +1",
			      (int)(words[SERVING] - ticket));
		enough(2, 1, 2);
	}
}
