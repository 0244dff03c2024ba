/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.5 - what does it take to change a word? */
#include "5_choose.h"

/* A sum is what it was made for: one request, and no old value is needed. */
const int hits = FETCH_AND_ADD;

/* A maximum is no sum. The compare makes sure that nobody came in between. */
const int highest = SWAP_LOOP;

/* Atomics are atomic on one word. Between two words there is always a moment. */
const int transfer = LOCK;
