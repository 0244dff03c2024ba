/* SPDX-License-Identifier: MIT */
/* Solution of exercise 10.3 - two of the same key */
#include "3_insert.h"

bool insert(uint64_t key, uint64_t value)
{
	unsigned i = 0;

	while (i < SLOTS) {
		unsigned s = (first_slot(key) + i) % SLOTS;
		struct seen_slot there = look(s);

		if (there.key != 0 && there.key != key) {
			i++; /* for ever another key's */
			continue;
		}
		if (there.live)
			return false;
		if (change(s, there.version, key, value))
			return true; /* else look at it again */
	}
	return false;
}
