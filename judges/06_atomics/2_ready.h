/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* A word in the peer's memory, which is 0 until somebody sets it to 1. */
struct flag {
	struct ep *ep;
	uint64_t addr;
	uint32_t rkey;
	uint64_t *old; /* ours, in a region with LOCAL_WRITE */
	uint32_t lkey;
};

/* The exercise's. True: this call has set the flag. */
bool set_ready(const struct flag *f);
