/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* "Write there", as the peer SENDs it: big endian. */
struct offer {
	uint64_t addr;
	uint32_t rkey, len;
};

/* The exercise's. */
void fill(struct ep *ep, const struct offer *offer, const char *data,
	  uint32_t n, uint32_t lkey);
