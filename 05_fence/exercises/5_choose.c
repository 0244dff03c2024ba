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
 * CPU wait. Each program then runs on a bad day: answers are late or get lost.
 */
#include "5_choose.h"

/* A record and its flag: WRITE the data, then WRITE the flag, on one queue pair. A
 * CPU polls the flag, on x86 and as in lesson 02. A READ of something else, posted before on
 * that queue pair, is still under way. */
const int publish = UNANSWERED; /* TODO 5.5 */

/* A new record for the old one: READ the record, then WRITE another one over it
 * from another buffer, on one queue pair. The READ must bring the old record. */
const int exchange = UNANSWERED; /* TODO 5.5 */

/* From one server to another: READ a record on one queue pair, then WRITE what
 * came on another queue pair, from the same buffer. */
const int move = UNANSWERED; /* TODO 5.5 */
