/* SPDX-License-Identifier: MIT */
/*
 * The server's record, another writer on its CPU, and a client's READs. All is
 * in one thread, so each schedule is the same on every run.
 */
#include <stdatomic.h>

#include "judge.h"
#include "lesson.h"

enum { HALF = WORDS / 2, MINE = 7, OTHERS = 1000 };

static struct duo d;
static _Alignas(64) struct record record;
static _Atomic uint64_t *const version = &record.version;
static struct {
	uint64_t word[2], data[WORDS];
} own;
static struct ibv_mr *theirs, *ours;
static struct ibv_sge pieces[3]; /* of own: a word, the data, a word */

static inline void record_up(void)
{
	duo_up(&d);
	theirs = open_memory(&d.peer, &record, sizeof record);
	ours = open_memory(&d.you, &own, sizeof own);
	pieces[0] = piece(&own.word[0], 8, ours);
	pieces[1] = piece(own.data, sizeof own.data, ours);
	pieces[2] = piece(&own.word[1], 8, ours);
}

static inline void fetch(void *to, const void *from, size_t len)
{
	struct ibv_sge here = piece(to, len, ours);

	execute(&d.you, request(IBV_WR_RDMA_READ, &here, from, theirs));
}

static inline void fetch_half(int half)
{
	fetch(&own.data[half * HALF], &record.data[half * HALF], HALF * 8);
}

static inline void write_half(int half, uint64_t n)
{
	for (int i = half * HALF; i < (half + 1) * HALF; i++)
		record.data[i] = n;
}

static inline void write_both(uint64_t n)
{
	write_half(0, n);
	write_half(1, n);
}

static inline bool is_torn(const uint64_t *data)
{
	return data[0] != data[WORDS - 1];
}

/* The other writer keeps the rules. In each step, up to the next '.', it Begins
 * updates and Ends them. After n of them, all data is OTHERS + n. */
static const char *steps;
static int updates;
static bool at_work;

static inline void step(void)
{
	for (; *steps && *steps != '.'; steps++) {
		if (*steps == 'B' && *version % 2 == 0) {
			atomic_fetch_add(version, 1);
			write_half(0, OTHERS + (uint64_t)updates + 1);
			at_work = true;
		} else if (*steps == 'E' && at_work) {
			write_half(1, OTHERS + (uint64_t)++updates);
			atomic_fetch_add(version, 1);
			at_work = false;
		}
	}
	if (*steps)
		steps++;
}

static inline void start(const char *what, uint64_t begin,
			 const char *its_steps)
{
	about("%s", what);
	steps = its_steps;
	updates = 0;
	at_work = false;
	atomic_store(version, begin);
	write_both(OTHERS);
}
