/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 8.4 must agree on. */
#ifndef READER_COUNT_H
#define READER_COUNT_H

#include "lesson.h"

/* readers[b]: how many readers hold buffer b. Only NICs change it; the server's
 * CPU looks at it, and leaves the buffer alone until it is 0. */
struct counted {
	struct shared shared;
	_Alignas(64) uint64_t readers[2];
};

#endif
