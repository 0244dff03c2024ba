/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.6 - repair: each number once, whatever breaks   ** 20 minutes
 *
 * deliver() adds n numbers, none of them 0, to a word in the peer's memory. Nobody else
 * changes that word; at first it is 0. At random moments the wire is cut for longer than
 * the NIC repeats. Then add() is in doubt: perhaps the peer's NIC has added the number,
 * perhaps not. deliver() repeats it, and so the sum is too large at times.
 *
 * Repair it. At the end the word is the sum of all numbers: none is missing, none was
 * added twice. (docs/recovery.md, "Repeat, or not?")
 *
 *   bool add(uint32_t number);  FETCH_AND_ADD, and its completion. False: no success,
 *                               and the queue pair is in the error state
 *   void reconnect(void);       waits until the wire is whole, destroys both queue pairs,
 *                               and connects new ones
 *   uint64_t read_word(void);   a READ of the word, through a queue pair that works
 *
 * The judge cuts the wire at least 8 times, and until both have happened: a number was
 * added by the add() that failed, and one was not.
 */
#include "6_cut.h"

void deliver(const uint32_t *numbers, int n)
{
	for (int i = 0; i < n; i++)
		while (!add(numbers[i])) /* TODO 6.6 */
			reconnect();
}
