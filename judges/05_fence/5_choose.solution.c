/* SPDX-License-Identifier: MIT */
/* Solution of exercise 5.5 - what holds the second request back? */
#include "5_choose.h"

/* WRITE stays behind WRITE. A fence or a completion would wait for the READ, too. */
const int publish = AT_ONCE;

/* The READ's answer may be lost, and then the READ is executed again. */
const int release = FENCE_SECOND;

/* The address is a part of the WRITE. A fence holds it back and does not change it. */
const int follow = COMPLETION;
