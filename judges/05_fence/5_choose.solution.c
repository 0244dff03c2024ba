/* SPDX-License-Identifier: MIT */
/* Solution of exercise 5.5 - what holds the second request back? */
#include "5_choose.h"

/* WRITE stays behind WRITE. A fence or a completion would wait for the READ, too. */
const int publish = AT_ONCE;

/* The READ's answer may be lost, and then the READ is executed again. */
const int exchange = FENCE_SECOND;

/* A fence looks only at the READs of its own queue pair. */
const int move = COMPLETION;
