/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 8.4 must agree on. */
#ifndef LEASE_H
#define LEASE_H

#include "lesson.h"

/* lease[b]: how many readers hold buffer b. Only NICs change it; the server's
 * CPU looks at it, and leaves the buffer alone until it is 0. */
struct leased {
	struct shared shared;
	_Alignas(64) uint64_t lease[2];
};

#endif
