/* SPDX-License-Identifier: MIT */
/* 05_fence/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>
#include <string.h>

enum {
	LESSON = 5,
	LEN = 512,      /* bytes that acts 1, 3 and 4 move */
	ROUNDS = 5,     /* of act 1 and of act 4, each half */
	DELAY = 6,      /* ms, on the server's wire, in acts 1 and 2 */
	PAIRS = 5,      /* of requests that act 2 measures */
	TRIES = 3,      /* for each that waits; as many SENDs are received */
	MAX_TRIES = 20, /* for one that does not: once quick is enough */
	FLAGS = 100,    /* of act 3 */
};

/* The server's memory. Where a flag shows round r, the data of round r should
 * be; each flag is a word of its own that the CPU polls. */
struct shared {
	_Alignas(64) char source[LEN]; /* act 1: read this ... */
	_Alignas(64) char copy[LEN];   /* ... and write it here */
	_Alignas(64) uint64_t counter; /* act 2: something to add to */
	_Alignas(64) char data[LEN];   /* acts 3 and 4 */
	_Alignas(64) _Atomic uint64_t flag;
};

static inline void pattern(char *p, int round)
{
	for (int k = 0; k < LEN; k++)
		p[k] = (char)(round * 31 + k * 7 + k / 256);
}

static inline int is_pattern(const char *p, int round)
{
	char want[LEN];

	pattern(want, round);
	return memcmp(p, want, LEN) == 0;
}

#endif
