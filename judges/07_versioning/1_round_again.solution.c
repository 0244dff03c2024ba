/* SPDX-License-Identifier: MIT */
/* Solution of exercise 7.1 - the same version again */
#include "1_round_again.h"

const int after_127 = REJECTED_WHOLE;
const int after_128 = ACCEPTED_WHOLE; /* all of it newer: no harm is done */
const int twice_64 = ACCEPTED_TORN;   /* one byte is not enough */
