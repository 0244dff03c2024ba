/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.1 - predict: three things to know before you post * 10 minutes
 *
 * Replace each UNANSWERED by your choice. Then run it: the program makes the
 * experiment and says whether your choice is right.
 */
#include "1_predict.h"

/*
 * You post four sends of 32 bytes as one list. Only the first one is SIGNALED.
 * The peer has posted four receives. The second receive has room for 4 bytes,
 * the others for 64. How many completions will be in your CQ when all is over,
 * of whatever status? Choices: 0, 1, 2, 3, 4.
 */
const int how_many = UNANSWERED; /* TODO 1.1 */

/*
 * The peer has posted three receives, in this order: A with room for 8 bytes,
 * B with room for 64, C with room for 32. One message of 32 bytes comes. Which
 * receive does the message use up, be it with an error?
 * Choices: TAKES_A, TAKES_B, TAKES_C, TAKES_NONE.
 */
const int which_receive = UNANSWERED;

/*
 * You post an INLINE send of 32 bytes that you have never registered, and you
 * leave lkey 0. The peer has posted a receive with room for 64. What status
 * has your completion?
 * Choices: IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR,
 * IBV_WC_LOC_LEN_ERR, or NOT_POSTED: ibv_post_send returns an error.
 */
const int inline_status = UNANSWERED;
