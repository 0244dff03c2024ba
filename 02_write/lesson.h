/* SPDX-License-Identifier: MIT */
/* 02_write/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>
#include <string.h>

enum {
	LESSON = 2,
	HEAD = 16,   /* act 1 writes three pieces: a head and a body ... */
	BODY = 3000, /* ... next to each other, in one request ... */
	TAIL = 40,   /* ... and a tail at the end of the page, in two */
	PAGE = 4096,
	ROUNDS = 200, /* of act 2 */
};

/*
 * The memory that the server opens. The flag has its own cache line (the 64
 * bytes that a CPU loads together), so that polling the flag does not disturb the
 * data: alignment to 64 is for speed. The flag has 8 bytes at a multiple of 8, for correctness: the CPU loads it whole.
 */
struct shared {
	_Alignas(64) char page[PAGE];
	_Alignas(64) _Atomic uint64_t flag; /* the round, high byte first */
};

/* Bytes that differ from their neighbours and from the bytes of other seeds. */
static inline void pattern(char *p, int len, int seed)
{
	for (int k = 0; k < len; k++)
		p[k] = (char)(seed * 31 + k * 7 + k / 256);
}

/* What the page must look like after act 1; '.' is what was there before. */
static inline void page_as_written(char *page)
{
	memset(page, '.', PAGE);
	pattern(page, HEAD, 1);
	pattern(page + HEAD, BODY, 2);
	pattern(page + PAGE - TAIL, TAIL, 3);
}

#endif
