/* SPDX-License-Identifier: MIT */
/*
 * Exercise 2.1 - predict: what does an rkey guard?            * 10 minutes
 *
 * The page does not say what comes. Conclude it from what a key is for, and replace
 * each UNANSWERED by your choice. Then run it: the program makes the experiment
 * and says whether your choice is right.
 */
#include "1_predict.h"

/*
 * A WRITE of 0 bytes, to address 0 with rkey 0. No region has that address or
 * that key. What status has the completion?
 * Choices: IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR,
 * IBV_WC_LOC_PROT_ERR, or NOT_POSTED: ibv_post_send returns an error.
 */
const int empty_write = UNANSWERED; /* TODO 2.1 */

/*
 * Three WRITEs of 8 bytes in one list, to three places in a region. The second one
 * has a wrong rkey, the others are correct. Only the third is SIGNALED. Which
 * places have changed in the end?
 * Choices: NO_PLACE: ibv_post_send takes a list as a whole; ONLY_FIRST;
 * FIRST_AND_THIRD; ALL_THREE.
 */
const int places_changed = UNANSWERED;

/*
 * The peer registers the same 64 bytes twice: as region A with REMOTE_WRITE,
 * and then as region B without. Which of the two rkeys lets you write there?
 * Choices: ONLY_A; ONLY_B; BOTH: one region that allows it is enough; NEITHER:
 * the last registration counts.
 */
const int open_keys = UNANSWERED;
