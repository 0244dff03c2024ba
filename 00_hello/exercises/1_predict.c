/* SPDX-License-Identifier: MIT */
/*
 * Exercise 0.1 - predict: what do the completions say?          * 5 minutes
 *
 * Replace each UNANSWERED by your choice. Then run it: the program makes the
 * experiment and says whether your choice is right.
 */
#include "1_predict.h"

/*
 * The peer's program posts a receive with room for 64 bytes. Then it sleeps for
 * an hour. Meanwhile you send a message of 5 bytes, SIGNALED. What does your
 * completion say?
 * Choices: IBV_WC_SUCCESS, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_RETRY_EXC_ERR,
 * NO_COMPLETION: none comes before the hour is over.
 */
const int asleep = UNANSWERED; /* TODO 0.1 */

/*
 * The peer has posted two receives, each with room for 64 bytes. You send two
 * messages of 5 bytes. Which completions does the peer find in its CQ?
 * Choices: ONE_OF_10 (one, with byte_len 10), TWO_OF_5, ONE_OF_64, TWO_OF_64.
 */
const int two_messages = UNANSWERED;

/*
 * The peer has posted a receive. You send a message, with send_flags 0. Who has
 * a completion in the end?
 * Choices: BOTH, ONLY_YOU, ONLY_PEER, NEITHER.
 */
const int without_flag = UNANSWERED;
