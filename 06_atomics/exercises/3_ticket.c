/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.3 - extend: a ticket lock                      * 10 minutes
 *
 * The lock of the lesson is not fair: a client may fail again and again. A ticket
 * lock serves the clients in the order in which they came. It has two words in
 * the peer's memory: word NEXT is the next ticket, word SERVING the ticket whose
 * turn it is. A client takes one ticket and waits until SERVING is that ticket.
 *
 * Write lock(): it takes one ticket, waits for its turn, and returns the ticket.
 * It does not change SERVING. Write unlock(): with one request, it lets the next
 * client in. Its argument is what lock() returned. The words are modulo 2^64: after
 * the greatest ticket comes 0.
 *
 * Each of these functions is one request, and waits until it is complete. n is the
 * number of the word. The last two return the old value.
 *   uint64_t read_word(int n);
 *   void write_word(int n, uint64_t value);
 *   uint64_t fetch_and_add(int n, uint64_t add);
 *   uint64_t compare_and_swap(int n, uint64_t expected, uint64_t new);
 *
 * The judge calls lock() and unlock() three times, and plays other clients, which
 * came before you and leave while you wait.
 */
#include "3_ticket.h"

uint64_t lock(void)
{
	return fetch_and_add(NEXT, 1); /* TODO 6.3 */
}

void unlock(uint64_t ticket)
{
	(void)ticket; /* TODO 6.3 */
}
