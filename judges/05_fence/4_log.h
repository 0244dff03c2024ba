/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { PLACES = 12 };

/* The log, in the peer's memory. Others append to it, too. Nobody looks at an
 * entry's text before its valid is 1. */
struct log {
	uint64_t counter; /* the next free place */
	struct entry {
		char text[120];
		uint64_t valid;
	} entry[PLACES];
};

/* Our memory, one registered region, and where the log is. */
struct writer {
	struct ep *ep;
	uint64_t log; /* address of the peer's struct log */
	uint32_t rkey, lkey;
	uint64_t old, one; /* for an old value; 1 */
	struct entry entry;
};

/* The exercise's. Returns the place. */
uint64_t append(struct writer *w);
