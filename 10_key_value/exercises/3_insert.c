/* SPDX-License-Identifier: MIT */
/*
 * Exercise 10.3 - repair: two of the same key                ** 30 minutes
 *
 * Clients insert keys into the table of the lesson. With this insert() a key is
 * sometimes in two slots. Then a DELETE finds one of them, and the key is still
 * there. Repair it:
 *   - if the key is in no slot, or deleted, insert() makes it live, with this
 *     value, and returns true;
 *   - if it is live, or if there is no slot for it, nothing changes, and insert()
 *     returns false;
 *   - a key is never in two slots, and no key loses its slot, whatever others
 *     insert and delete between two of your requests.
 *
 * A search begins in first_slot(key), and goes on behind the last slot with slot 0.
 * It ends where the key is, live or deleted, or at a slot that was never used: its
 * key is 0. What you need is in judges/10_key_value/3_insert.h: look(s), and
 * change(s, version, key, value), which does nothing if the slot has another
 * version by now.
 */
#include "3_insert.h"

bool insert(uint64_t key, uint64_t value)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned s = (first_slot(key) + i) % SLOTS;
		struct seen_slot there = look(s);

		if (there.live && there.key == key)
			return false;
		if (!there.live && change(s, there.version, key, value))
			return true; /* TODO 10.3 */
	}
	return false;
}
