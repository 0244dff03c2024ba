/* SPDX-License-Identifier: MIT */
/* 01_send_recv/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stddef.h>

enum {
	LESSON = 1,
	DEPTH = 4,      /* receives the server posts, sends the client may have
			   under way */
	STREAM = 40,    /* messages of the last act, a multiple of DEPTH */
	MSG_MAX = 3000, /* bytes; three packets at an MTU of 1024 */
	IMM = 0x01020304,
};

#define TEXT "somebody has to be ready for me"
#define INLINE_TEXT "copied at the moment I was posted"

/* Message i of the stream: no two are alike, and in none do two neighbouring
 * bytes agree, so lost, swapped, shifted or merged data shows. */
static inline size_t stream_message(int i, char *buf)
{
	size_t len = (size_t)(i * 611) % MSG_MAX + 1;

	for (size_t k = 0; k < len; k++)
		buf[k] = (char)(i * 31 + (int)k * 7 + (int)k / 256);
	return len;
}

#endif
