/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.1 - predict: no byte, and one too many          * 10 minutes
 *
 * The peer opened a region of 6000 bytes to REMOTE_READ. Choose an answer for
 * each question, then run it.
 *
 * no_byte: a READ of 0 bytes, and the rkey in it belongs to no region. What does
 * its completion say? Choose IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR,
 * IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_PROT_ERR or NO_COMPLETION.
 *
 * one_too_many: a READ of 6000 bytes, from the second byte of the region on. It
 * fails, because its last byte is behind the end of the region. How many bytes
 * are in your buffer then? Choose NONE, FIRST_PACKET, ALL_BUT_ONE or ALL.
 *
 * behind_it: a correct READ, posted together with the one that fails, behind it,
 * and without IBV_SEND_SIGNALED. What does its completion say? Choose as for
 * no_byte, or IBV_WC_WR_FLUSH_ERR.
 */
#include "1_how_much.h"

const int no_byte = UNANSWERED; /* TODO 3.1 */
const int one_too_many = UNANSWERED;
const int behind_it = UNANSWERED;
