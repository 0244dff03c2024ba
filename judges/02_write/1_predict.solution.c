/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.1 - what does an rkey guard? */
#include "1_predict.h"

/* An rkey guards bytes, and here are none. */
const int empty_write = IBV_WC_SUCCESS;

/* The first is executed. The second ends the connection: nothing behind it is. */
const int places_changed = ONLY_FIRST;

/* Rights belong to a region, and so to a key. Memory itself has none. */
const int open_keys = ONLY_A;
