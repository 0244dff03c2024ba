/* SPDX-License-Identifier: MIT */
/*
 * Exercise 10.1 - predict: how many round trips?              * 15 minutes
 *
 * One record in the memory of a server. Its place is known, nobody is in the
 * way, nothing fails. How many round trips does each of these take, at least? What
 * need not wait is posted in one list; no request has a fence. A READ may be posted
 * before the client knows whether it can use the bytes. Choose 1 to 6.
 *
 * A lock: COMPARE_AND_SWAP takes it, COMPARE_AND_SWAP gives it back.
 *     lock_read: READ the record under the lock;
 *     lock_update: WRITE it under the lock.
 * A checksum over all of the record.
 *     checksum_read.
 * Four buffers and a generation (lesson 08). One client writes, and knows the
 * generation. FETCH_AND_ADD publishes the next one.
 *     buffers_read, by a client that has READ nothing before, and READs one
 *     buffer; buffers_update.
 * Two buffers, a generation, and a count of readers for each buffer, which
 * FETCH_AND_ADD changes: the five requests of the reader in exercise 8.3, in order
 * (generation, in, generation, buffer, out).
 *     count_read.
 * A SEND to the server's program, and its answer.
 *     send_read.
 */
#include "1_round_trips.h"

const int lock_read = UNANSWERED; /* TODO 10.1 */
const int lock_update = UNANSWERED;
const int checksum_read = UNANSWERED;
const int buffers_read = UNANSWERED;
const int buffers_update = UNANSWERED;
const int count_read = UNANSWERED;
const int send_read = UNANSWERED;
