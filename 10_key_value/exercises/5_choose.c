/* SPDX-License-Identifier: MIT */
/*
 * Exercise 10.5 - choose: one-sided, or a SEND?              ** 20 minutes
 *
 * Records of 96 bytes in the memory of a server. Choose for each service
 *   LOCK      COMPARE_AND_SWAP takes a lock, and gives it back; it can be for
 *             more than one record;
 *   VERSION   each record has a version, which COMPARE_AND_SWAP makes odd
 *             (this lesson, without log, lease and cut-off);
 *   CHECKSUM  one READ, and the checksum is computed again; one WRITE of record
 *             and checksum;
 *   SEND      a request to the server's program, and its answer.
 * The judge runs what you chose, and says what it loses.
 *
 * quotes (prices): The server's CPU updates a record. Clients READ it in one round trip,
 *     or try again. The server's program has no time for them.
 * board: Clients READ a record, and now and then one of them changes it. No
 *     change may be lost. The server's program does not run. Most clients
 *     have the right to READ, and no other. Nobody dies.
 * transfer: Clients change two records at once: what one loses, the other gets.
 *     A reader sees both as before, or both as after. The server's program does
 *     not run. Nobody dies, and waiting is allowed.
 * account: Clients add to a record. No change may be lost. A client may die at any
 *     moment; nobody waits for it, and nobody is cut off. The server's program
 *     runs, and has time.
 */
#include "5_choose.h"

const int quotes = UNANSWERED; /* TODO 10.5 */
const int board = UNANSWERED;
const int transfer = UNANSWERED;
const int account = UNANSWERED;
