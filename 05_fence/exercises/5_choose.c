/* SPDX-License-Identifier: MIT */
/*
 * Exercise 5.5 - choose: what holds the second request back?  ** 20 minutes
 *
 * Three programs with two requests each. What must be done so that the result
 * is always right? Choose the cheapest that is enough for each:
 *
 *   AT_ONCE       both requests are posted at once, without a fence
 *   FENCE_FIRST   the same, and the first request has the fence
 *   FENCE_SECOND  the same, and the second request has the fence
 *   COMPLETION    the second is posted when the first has completed
 *
 * AT_ONCE costs nothing, a fence makes the NIC wait, a completion makes your
 * CPU wait. The judge runs each program when answers are late or get lost. It
 * compares what came, and what the peer's memory has in the end.
 */
#include "5_choose.h"

/* A record and its flag: WRITE the data, then WRITE the flag, on one queue pair. A
 * CPU polls the flag, on x86 and as in lesson 02. (An older READ of that queue pair is
 * not answered yet. Neither WRITE uses what it fetches.) */
const int publish = UNANSWERED; /* TODO 5.5 */

/* A record is fetched: READ it, then SEND "I have it", on one queue pair. When the
 * peer has the message, its CPU puts another record there. The READ must bring the
 * old record. */
const int release = UNANSWERED; /* TODO 5.5 */

/* A pointer is followed: READ a word, which has an address of the peer's memory,
 * then WRITE 8 bytes to that address, on one queue pair. The program takes the
 * address from the READ's buffer just before it posts the WRITE. */
const int follow = UNANSWERED; /* TODO 5.5 */
