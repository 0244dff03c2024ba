/* SPDX-License-Identifier: MIT */
/* Solution of exercise 8.5 - one record, or several? */
#include "5_which_one.h"

const int long_updates = TWO_BUFFERS; /* one is whole all the time */
const int never_rests = FOUR_BUFFERS; /* two generations pass in each try */
const int slow_reader = LEASE;        /* the reader is too slow for any race */
