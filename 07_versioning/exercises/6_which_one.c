/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.6 - choose: what protects this record?         ** 20 minutes
 *
 * A server has a record of 6000 bytes, clients READ it. Choose for each problem
 *   LOCK        COMPARE_AND_SWAP takes a lock, and releases it (lesson 06);
 *   VERSION     READ the version, the data, the version (this lesson). Nobody
 *               changes the version by an atomic (7.4 does);
 *   CHECKSUM    one READ of the data and a checksum of all of it, which the
 *               client computes again;
 *   TWO_COPIES  the writer writes the other copy, then says which copy is
 *               good. READ which, READ this copy, READ which (lesson 08).
 * The judge runs what you chose, and says what it loses.
 *
 * small_field: The server's CPU updates. A client wants 64 bytes of the record,
 *     and may fetch 1000 bytes in one try. The server has memory for the record
 *     once, and 16 bytes. A client may die at any moment; the writer must not
 *     wait for ever.
 * far_away: The server's CPU updates. A client wants all of the record, and one
 *     try may take one round trip. It may die, too. There is much memory.
 * transfer: Clients READ the record, compute, and WRITE it. No change may be
 *     lost. Nobody dies, waiting is allowed, there is much memory.
 */
#include "6_which_one.h"

const int small_field = UNANSWERED; /* TODO 7.6 */
const int far_away = UNANSWERED;
const int transfer = UNANSWERED;
