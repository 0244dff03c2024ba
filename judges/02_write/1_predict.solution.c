/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.1 - what does an rkey guard? */
#include "1_predict.h"

/* An rkey guards bytes, and here are none. */
const int empty_write = IBV_WC_SUCCESS;

/* The first packet says how long the WRITE is, and is checked for all of it. */
const int bytes_changed = NONE;

/* Rights belong to a region, and so to a key. Memory itself has none. */
const int open_keys = ONLY_A;
