/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.4 - repair: the same value is not the same word    *** 45 minutes
 *
 * A list of free slots in the peer's memory. Word HEAD has the number of the first
 * free slot. Word n is the link of slot n: the number of the next free slot. Slots
 * count from 1; 0 ends the list. pop() takes the first slot; if none is free, it changes
 * nothing and returns 0. push() puts a slot in front. Both swap the head by
 * COMPARE_AND_SWAP. It goes wrong:
 *
 *       head: 1     link of 1: 2     link of 2: 3     link of 3: 0
 *
 *       client 1, in pop()             client 2
 *       reads head: 1                    |
 *       reads link of 1: 2               |
 *         |                            pop(): 1        head: 2
 *         |                            pop(): 2        head: 3
 *         |                            push(1)         head: 1, link of 1: 3
 *       swaps head, 1 -> 2: success!                   head: 2
 *       The first free slot is now slot 2, and client 2 has it.
 *
 * The head was 1 and is 1, but the list is another one ("ABA"). To read the head
 * once more before the swap does not help: client 2 may come after that READ.
 *
 * Repair pop() and push(): a swap must fail if the head has changed since it was
 * read, even if it names the same slot again. Slots are small numbers, the head
 * has 64 bits. Only pop() and push() read the head.
 *
 * Each of these functions is one request, and waits until it is complete. n is the
 * number of the word. The last two return the old value.
 *   uint64_t read_word(int n);
 *   void write_word(int n, uint64_t value);
 *   uint64_t fetch_and_add(int n, uint64_t add);
 *   uint64_t compare_and_swap(int n, uint64_t expected, uint64_t new);
 *
 * The judge plays both clients, each with your pop() and push(). Client 2 comes
 * before client 1 swaps, or before it writes a link. No slot may have two owners, and
 * none may be lost. Within 140 000 changes the head never has an old value again.
 */
#include "4_free_slots.h"

uint64_t pop(void)
{
	for (;;) { /* TODO 6.4 */
		uint64_t slot = read_word(HEAD);
		if (slot == 0)
			return 0;
		uint64_t next = read_word((int)slot);
		if (compare_and_swap(HEAD, slot, next) == slot)
			return slot;
	}
}

void push(uint64_t slot)
{
	for (;;) { /* TODO 6.4 */
		uint64_t next = read_word(HEAD);
		write_word((int)slot, next);
		if (compare_and_swap(HEAD, next, slot) == next)
			return;
	}
}
