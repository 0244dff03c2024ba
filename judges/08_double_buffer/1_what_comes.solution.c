/* SPDX-License-Identifier: MIT */
/* Solution of exercise 8.1 - what does the reader get? */
#include "1_what_comes.h"

const int two_and_a_half = ACCEPTED_WHOLE; /* g + 3 has a buffer of its own */
const int three = REJECTED_WHOLE; /* g + 4 may have begun: nobody can know */
const int index_only = ACCEPTED_OTHER;
