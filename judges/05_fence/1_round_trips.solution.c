/* SPDX-License-Identifier: MIT */
/* Solution of exercise 5.1 - how many round trips? */
#include "1_round_trips.h"

/* READ, READ, READ|F, WRITE: two READs at once, then what is behind the fence. */
const int list_a = TWO;

/* READ, WRITE|F, READ, WRITE|F: the second READ starts with the first WRITE, and
 * the second fence waits for it. */
const int list_b = THREE;

/* WRITE, READ|F, WRITE: no READ or atomic is before the fence. */
const int list_c = ONE;

/* WRITE, ATOMIC|F, ATOMIC|F, READ|F: the first fence waits for nothing. */
const int list_d = THREE;
