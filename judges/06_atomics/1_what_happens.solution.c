/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.1 - what happens? */
#include "1_what_happens.h"

/* The compare failed, the request did not: the list goes on. What depends on the
 * swap can only be posted when the old value is known. */
const int behind_a_failure = EXECUTED;

/* The NIC adds 64 bits. It does not know that they are two counters. */
const int other_half = ONE_MORE;

/* Atomics have a right of their own. */
const int only_atomic = IBV_WC_SUCCESS;
