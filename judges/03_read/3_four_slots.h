/* SPDX-License-Identifier: MIT */
#include "judge.h"
#include "lesson.h"

enum { SLOTS = 4 };

struct records {
	char *slots[SLOTS]; /* yours: RECORD bytes each, in region lkey */
	uint32_t lkey;
	uint32_t rkey; /* the peer's: record i begins at addr + i * RECORD */
	uint64_t addr;
};

void take(int i); /* the judge's: looks at record i */

/* The exercise's. */
void fetch_all(struct ep *ep, const struct records *r, int n);
