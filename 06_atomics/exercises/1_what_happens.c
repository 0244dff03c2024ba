/* SPDX-License-Identifier: MIT */
/*
 * Exercise 6.1 - predict: what happens?                      * 10 minutes
 *
 * Three questions about atomics. Choose an answer for each, then run it.
 */
#include "1_what_happens.h"

/*
 * A word is 7. A COMPARE_AND_SWAP that expects 0 and a WRITE to another word are
 * posted as one list. What happens to the WRITE?
 *   EXECUTED  its word has the new value, and it completes with success
 *   FLUSHED   it completes with IBV_WC_WR_FLUSH_ERR
 *   SKIPPED   it completes with success, and its word is as it was
 *   WAITS     it does not complete: it waits until the swap takes place
 */
const int behind_a_failure = UNANSWERED; /* TODO 6.1 */

/*
 * A program keeps two counters of 32 bits in one word: in the upper half 5, in the
 * lower half 0xffffffff, its greatest value. FETCH_AND_ADD 1. What is now in the
 * upper half? THE_SAME, ONE_MORE, BECOMES_0, or is the request REFUSED?
 */
const int other_half = UNANSWERED; /* TODO 6.1 */

/*
 * Region and connection allow IBV_ACCESS_REMOTE_ATOMIC and nothing else remote: no
 * REMOTE_READ, no REMOTE_WRITE. With which status does a FETCH_AND_ADD complete?
 * IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_INV_REQ_ERR, or
 * IBV_WC_REM_ACCESS_ERR?
 */
const int only_atomic = UNANSWERED; /* TODO 6.1 */
