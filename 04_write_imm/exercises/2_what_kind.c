/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.2 - predict: receives and what they say         * 10 minutes
 *
 * Enough receives are posted in each experiment.
 *
 * receives_used: you post a WRITE of 5000 bytes, an empty SEND, a WRITE_WITH_IMM
 * of 5000 bytes, and a WRITE_WITH_IMM of 0 bytes. A packet has 1024 bytes or more.
 * How many receives do they take? Choose ONE, TWO, THREE, FOUR or MORE.
 *
 * length_told: the receive has a buffer of 100 bytes. You post a WRITE of 4200
 * bytes, and behind it a SEND_WITH_IMM of 10 bytes. What is byte_len in the
 * receive's completion? Choose 0, 10, 100, 4200 or 4210.
 *
 * too_small: the receive has a buffer of 1 byte. You post a WRITE_WITH_IMM of 4200
 * bytes. What does the receive's completion say? Choose IBV_WC_SUCCESS,
 * IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR or
 * IBV_WC_WR_FLUSH_ERR.
 */
#include "2_what_kind.h"

const int receives_used = UNANSWERED; /* TODO 4.2 */
const int length_told = UNANSWERED;
const int too_small = UNANSWERED;
