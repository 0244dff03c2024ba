/* SPDX-License-Identifier: MIT */
/*
 * Solution of exercise 3.1 - no byte, and one too many
 *
 * A range without a byte needs no right (specification, C9-88, cited in Linux
 * 6.12, rxe_resp.c, check_rkey). The range of a READ is checked before the
 * first byte is sent. An error makes all requests behind it complete, signaled
 * or not.
 */
#include "1_how_much.h"

const int no_byte = IBV_WC_SUCCESS;
const int one_too_many = NONE;
const int behind_it = IBV_WC_WR_FLUSH_ERR;
