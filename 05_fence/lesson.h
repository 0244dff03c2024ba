/* SPDX-License-Identifier: MIT */
/* 05_fence/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	LESSON = 5,
	LEN = 512,  /* bytes that acts 1 and 3 copy */
	ROUNDS = 3, /* for each line of acts 1 and 3 */
	DELAY = 10, /* ms: how late the server's answers are, in acts 1 to 3 */
	PAIRS = 6,  /* act 2: of requests that are measured */
	TRIES = 2,  /* act 2: none may be quick, if the second waits */
	MAX_TRIES = 60, /* act 2: one must be quick, if it does not */
};

/* The server's memory. Where a CPU polls a word, the word is _Atomic. */
struct shared {
	_Alignas(64) char source[LEN];      /* acts 1 and 3: read this ... */
	_Alignas(64) char copy[LEN];        /* ... and write it here */
	_Alignas(64) uint64_t counter;      /* act 2: something to add to */
	_Alignas(64) _Atomic uint64_t x, y; /* act 4: read and written */
};

/* Where a member is in the server's memory. */
#define AT(member) offsetof(struct shared, member)

enum { OLD = 1, NEW = 2 }; /* x and y, in network byte order */

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
