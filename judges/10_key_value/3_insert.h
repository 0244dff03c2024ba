/* SPDX-License-Identifier: MIT */
#include "judge.h"
#include "lesson.h" /* SLOTS, first_slot() */

/* What is in slot s, at rest: READs. A slot that was never used has key 0. */
struct seen_slot {
	uint64_t version, key;
	bool live; /* not deleted */
};
struct seen_slot look(unsigned s);
/* Slot s gets this key and value, live, if its version is still this one; else
 * nothing changes, and it returns false. */
bool change(unsigned s, uint64_t version, uint64_t key, uint64_t value);

/* The exercise's. */
bool insert(uint64_t key, uint64_t value);
