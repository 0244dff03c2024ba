/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* What the peer's message says: "write there". 16 bytes, numbers in big endian. */
struct offer {
	uint64_t addr; /* of the memory that is offered */
	uint32_t rkey, len;
};

/* What fill() works with. All of it is your memory, in one region. */
struct work {
	struct offer offer; /* a receive for one message is posted here */
	const char *data;   /* n bytes */
	uint32_t n;
	uint32_t lkey; /* of the region */
};

/* The exercise's. */
void fill(struct ep *ep, const struct work *w);
