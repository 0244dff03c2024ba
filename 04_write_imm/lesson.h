/* SPDX-License-Identifier: MIT */
/* 04_write_imm/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

enum {
	LESSON = 4,
	CHUNKS = 20, /* of the transfer, each of a length of its own */
	DEPTH = 5,   /* notifications the client may have under way */
	MAX_DATA = CHUNKS * 7200,
};

/* More than the largest MTU, 4096: several packets wherever this runs. */
static inline uint32_t chunk_len(unsigned n)
{
	return 4200 + n * 613 % 3000;
}

/* Where chunk n begins; chunk_at(CHUNKS) is the length of the whole. */
static inline uint32_t chunk_at(unsigned n)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += chunk_len(i);
	return at;
}

/* Byte k of the whole. */
static inline char byte_at(uint32_t k)
{
	return (char)(k * 7 + k / 256 * 3 + k / 4001 * 5);
}

#endif
