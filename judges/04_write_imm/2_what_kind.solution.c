/* SPDX-License-Identifier: MIT */
/*
 * Solution of exercise 4.2 - receives and what they say
 *
 * The plain WRITE takes no receive, each of the others takes one. byte_len is
 * that of the SEND, which took the receive. The data of a WRITE_WITH_IMM does not
 * go to the receive's buffer, so the buffer cannot be too small.
 */
#include "2_what_kind.h"

const int receives_used = THREE;
const int length_told = 10;
const int too_small = IBV_WC_SUCCESS;
