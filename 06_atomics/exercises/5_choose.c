/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.5 - choose: what does it take to change a word?   ** 15 minutes
 *
 * Three things that several clients keep in a server's memory. For each, choose
 * the way to change it that is always right, whatever the other clients do in
 * between. If several ways are right, choose the one with the fewest requests:
 *
 *   READ_THEN_WRITE  READ the word, compute, WRITE the word
 *   FETCH_AND_ADD    add to the word; if the new value is no sum, READ the word
 *                    first, and add what is missing
 *   SWAP_LOOP        READ the word, compute, COMPARE_AND_SWAP; if the compare
 *                    fails, again, from the old value
 *   LOCK             get a lock by COMPARE_AND_SWAP, READ, compute, WRITE,
 *                    release the lock; readers take the lock, too
 */
#include "5_choose.h"

/* A counter of hits: each client adds 1 when it has a hit. */
const int hits = UNANSWERED; /* TODO 6.5 */

/* The highest bid of all clients: a client has a bid of 60, the word is 50. */
const int highest = UNANSWERED; /* TODO 6.5 */

/* Two words, which are two accounts: move 25 from one to the other. Whoever reads
 * both must find the same total at any time. (All ways but LOCK change one word,
 * and then the other.) */
const int transfer = UNANSWERED; /* TODO 6.5 */
