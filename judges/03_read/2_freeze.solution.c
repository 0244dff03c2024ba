/* SPDX-License-Identifier: MIT */
/*
 * Solution of exercise 3.2 - nobody at home
 *
 * The NIC answers, so a stopped process does not matter. Without the region it
 * refuses. Without the QP it is silent: your NIC repeats the request until
 * retry_cnt is used up.
 */
#include "2_freeze.h"

const int stopped = IBV_WC_SUCCESS;
const int withdrawn = IBV_WC_REM_ACCESS_ERR;
const int killed = IBV_WC_RETRY_EXC_ERR;
