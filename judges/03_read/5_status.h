/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { ROOM = 2000 };

/* What the host wants: its block of len bytes at (addr, rkey), which have that
 * checksum. (Both ends are one kind of machine here: no byte order.) */
struct command {
	uint64_t addr;
	uint32_t rkey, len, sum, tag;
};

enum { GOOD, BAD_SUM, TOO_LONG };
struct status {
	uint32_t tag, result;
};

uint32_t checksum(const char *p, uint32_t len); /* the judge's */

/* The exercise's. room: n * ROOM bytes, in region lkey. */
void serve(struct ep *ep, const struct command *c, int n, char *room,
	   uint32_t lkey);
