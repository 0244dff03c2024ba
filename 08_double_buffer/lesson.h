/* SPDX-License-Identifier: MIT */
/* 08_double_buffer/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

#ifndef READS
#define READS 100 /* buffers that each act wants to see accepted */
#endif

enum {
	LESSON = 8,
	BUFFERS = 4,      /* act 3 uses all, the other acts the first two */
	WORDS = 750,      /* 6000 bytes: several packets wherever this runs */
	PAUSE = 2000,     /* us: the writer rests in the middle of a buffer,
			  * the reader sometimes before the data */
	GENERATIONS = 16, /* that each act wants to see */
	SLOW_READS = 20,  /* that come too late, in act 4 */
};

/* The server's memory. Generation g is in buffer g % (2 or BUFFERS), and every
 * word of it is g: a buffer with two different words is torn. */
struct shared {
	_Alignas(64) _Atomic uint64_t generation; /* the last complete one */
	_Alignas(64) uint64_t buffer[BUFFERS][WORDS];
};

#endif
