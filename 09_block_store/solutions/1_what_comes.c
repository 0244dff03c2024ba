/* SPDX-License-Identifier: MIT */
/* Solution of exercise 9.1 - what comes, and what is left? */
#include "1_what_comes.h"

const int completions = TWO; /* an error, which needs no flag, and a flush */
const int reply = NONE;      /* so the client must be told by other means */
const int left = FIVE;       /* they were nobody's: nothing to flush */
