/* SPDX-License-Identifier: MIT */
/*
 * Exercise 5.1 - predict: how many round trips?             * 15 minutes
 *
 * Each of these lists is posted with one call of ibv_post_send, to one queue
 * pair. |F means: the request has IBV_SEND_FENCE. How many round trips does the
 * list take, until its last request completes? Draw each list first, like the
 * first picture of the lesson. Then choose: ONE, TWO, THREE or FOUR.
 */
#include "1_round_trips.h"

/* READ, READ, READ|F, WRITE */
const int list_a = UNANSWERED; /* TODO 5.1 */

/* READ, WRITE|F, READ, WRITE|F */
const int list_b = UNANSWERED; /* TODO 5.1 */

/* WRITE, READ|F, WRITE */
const int list_c = UNANSWERED; /* TODO 5.1 */

/* WRITE, ATOMIC|F, ATOMIC|F, READ|F */
const int list_d = UNANSWERED; /* TODO 5.1 */
