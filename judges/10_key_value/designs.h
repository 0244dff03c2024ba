/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/designs.h - one record, and how clients share it. For the
 * judges of exercises 10.1 and 10.5.
 *
 * What a client does is a string: a letter for each request, | for each wait for
 * what was posted. A round trip is such a wait.
 *   L U  COMPARE_AND_SWAP: take the lock, give it back
 *   o e  COMPARE_AND_SWAP: the version to odd, to even
 *   R W  READ, WRITE the record           v  READ the version
 *   B b  READ, WRITE the buffer           g  READ the generation
 *   p    FETCH_AND_ADD: publish the next generation
 *   + -  FETCH_AND_ADD: count in, out     c  READ the count
 *   s    SEND a request, and receive the answer
 */
#ifndef DESIGNS_H
#define DESIGNS_H

#include <string.h>

#include "judge.h"

enum { WORDS = 12, NUMBERS = 16 };

/* The server's. */
static struct {
	uint64_t lock, version, generation, count;
	uint64_t record[WORDS], buffer[4][WORDS];
} shared;
static struct duo d;
static struct ibv_mr *theirs;

/* A client: all of them use one connection, in turn. */
struct actor {
	const char *at; /* in its string */
	uint64_t value; /* what it writes */
	uint64_t number[NUMBERS], record[WORDS];
	struct ibv_mr *mr;
	int trips;
};

static inline void actor_up(struct actor *a)
{
	a->mr = open_memory(&d.you, a, sizeof *a);
}

static inline void designs_up(void)
{
	duo_up(&d);
	theirs = open_memory(&d.peer, &shared, sizeof shared);
}

/* A request and its answer: the server's program is here, too. */
static inline void ask(struct actor *a)
{
	struct ibv_sge here = piece(a->record, 8, a->mr),
		       there = piece(shared.record, 8, theirs);
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .sg_list = &here,
				    .num_sge = 1 },
			   answer = send;

	answer.sg_list = &there;
	add_receive(&d.peer, 0, shared.buffer, 8, theirs);
	add_receive(&d.you, 0, a->number, 8, a->mr);
	execute(&d.you, send);
	expect_completion(&d.peer, "the request");
	execute(&d.peer, answer);
	expect_completion(&d.you, "the answer");
	a->trips++;
}

/* The request for a letter. n: where a number goes. */
static inline struct ibv_send_wr letter(struct actor *a, char what,
					struct ibv_sge *here, uint64_t *n)
{
	uint64_t *word = strchr("LU", what)    ? &shared.lock
			 : strchr("oev", what) ? &shared.version
			 : strchr("gp", what)  ? &shared.generation
					       : &shared.count;
	struct ibv_send_wr wr;

	*here = piece(n, 8, a->mr);
	if (strchr("RWBb", what)) {
		*here = piece(a->record, sizeof a->record, a->mr);
		for (int i = 0; what == 'W' && i < WORDS; i++)
			a->record[i] = a->value;
		return request(strchr("RB", what) ? IBV_WR_RDMA_READ
						  : IBV_WR_RDMA_WRITE,
			       here,
			       strchr("RW", what) ? shared.record
						  : shared.buffer[0],
			       theirs);
	}
	if (strchr("vgc", what))
		return request(IBV_WR_RDMA_READ, here, word, theirs);
	wr = request(strchr("LUoe", what) ? IBV_WR_ATOMIC_CMP_AND_SWP
					  : IBV_WR_ATOMIC_FETCH_AND_ADD,
		     here, word, theirs);
	if (strchr("LUoe", what)) {
		wr.wr.atomic.compare_add = strchr("Ue", what) != NULL;
		wr.wr.atomic.swap = strchr("Lo", what) != NULL;
	} else {
		wr.wr.atomic.compare_add = what == '-' ? UINT64_MAX : 1;
	}
	return wr;
}

/* Does what stands up to the next |. Returns false if a swap failed, and then is
 * where it was. */
static inline bool next_list(struct actor *a)
{
	struct ibv_send_wr wr[NUMBERS];
	struct ibv_sge here[NUMBERS];
	int n = 0;

	if (*a->at == 's') {
		ask(a);
		a->at++;
		return true;
	}
	for (; a->at[n] && a->at[n] != '|'; n++) {
		wr[n] = letter(a, a->at[n], &here[n], &a->number[n]);
		if (n > 0)
			wr[n - 1].next = &wr[n];
	}
	wr[n - 1].send_flags = IBV_SEND_SIGNALED;
	post(&d.you, wr);
	expect_completion(&d.you, "a list");
	a->trips++;
	if (strchr("Lo", a->at[0]) && a->number[0] != 0)
		return false;
	a->at += a->at[n] ? n + 1 : n;
	return true;
}

/* All of it, alone. Returns the number of round trips. */
static inline int all_lists(struct actor *a, const char *what)
{
	a->at = what;
	a->trips = 0;
	while (*a->at)
		if (!next_list(a))
			wrong("%s: somebody has it", what);
	return a->trips;
}

#endif
