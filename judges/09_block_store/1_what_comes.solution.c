/* SPDX-License-Identifier: MIT */
/* Solution of exercise 9.1 - what comes, and what is left? */
#include "1_what_comes.h"

const int completions = TWO; /* an error, which needs no flag, and a flush */
const int reply = NONE;      /* so the client must be told by other means */
/* They were nobody's: nothing to flush. (On a NIC: once the event
 * IBV_EVENT_QP_LAST_WQE_REACHED is here.) */
const int left = FIVE;
