/* SPDX-License-Identifier: MIT */
/* 06_atomics/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

enum {
	LESSON = 6,
	CLIENTS = 2, /* two connections, two threads */
	TIMES = 250, /* each adds 1 this often, in acts 1 to 3 */
	LOCKS = 100, /* each takes the lock this often, in act 4 */
};

/* We store this where the old value will be. No word ever has this value. If it is
 * still there after a success, rxe has lost the old value, but not the change
 * (docs/rxe.md). */
#define NO_VALUE UINT64_MAX

/* The server's memory. Atomics need words of 8 bytes at multiples of 8. */
struct shared {
	uint64_t counter[3]; /* one for each of the acts 1 to 3 */
	uint64_t lock;       /* act 4: 0, or the number of the holder */
	uint64_t record[2];  /* what the lock protects: twice the same */
};

#endif
