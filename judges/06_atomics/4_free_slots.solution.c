/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.4 - the same value is not the same word */
#include "4_free_slots.h"

/* The head: a slot, and above it how often the head has changed. */
static uint64_t new_head(uint64_t slot, uint64_t old)
{
	return ((old >> 32) + 1) << 32 | slot;
}

uint64_t pop(void)
{
	for (;;) {
		uint64_t old = read_word(HEAD), slot = (uint32_t)old;
		if (slot == 0)
			return 0;
		uint64_t next = read_word((int)slot);
		if (compare_and_swap(HEAD, old, new_head(next, old)) == old)
			return slot;
	}
}

void push(uint64_t slot)
{
	for (;;) {
		uint64_t old = read_word(HEAD);
		write_word((int)slot,
			   (uint32_t)old); /* a link is only a slot */
		if (compare_and_swap(HEAD, old, new_head(slot, old)) == old)
			return;
	}
}
