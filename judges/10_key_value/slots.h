/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/slots.h - the server's table, your requests, and what
 * others do meanwhile. For the judges of exercises 10.2, 10.3 and 10.4.
 *
 * All is in one thread: the others move when a judge says so, between two requests
 * or in the middle of a READ. So each schedule is the same on every run.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <string.h>

#include "judge.h"
#include "lesson.h"

enum { HEAD = offsetof(struct record, value[VALUE / 2]) }; /* the first half */

static struct shared table;
static struct {
	uint64_t word;
	struct record record;
	struct log log[2];
} own;
static struct duo d;
static struct ibv_mr *theirs, *ours;
static int requests;

static inline void table_up(void)
{
	duo_up(&d);
	theirs = open_memory(&d.peer, &table, sizeof table);
	ours = open_memory(&d.you, &own, sizeof own);
}

static inline void copy(enum ibv_wr_opcode opcode, void *here,
			const void *there, size_t len)
{
	struct ibv_sge sge = piece(here, len, ours);

	execute(&d.you, request(opcode, &sge, there, theirs));
}

/* Returns what was there before. */
static inline uint64_t swap(uint64_t *there, uint64_t from, uint64_t to)
{
	struct ibv_sge sge = piece(&own.word, 8, ours);
	struct ibv_send_wr wr =
		request(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, there, theirs);

	wr.wr.atomic.compare_add = from;
	wr.wr.atomic.swap = to;
	execute(&d.you, wr);
	return own.word;
}

/* What another client has done: all of it. */
static inline void others_put(unsigned s, uint64_t key, uint64_t value)
{
	table.slot[s].record = record_of(key, value);
	table.slot[s].version = count_of(table.slot[s].version | 1) + 1;
}

static inline void one_more_request(void)
{
	if (++requests > 100)
		wrong("100 requests, and no end");
}

#endif
