/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.5 - choose: one record, or several?            ** 20 minutes
 *
 * One writer, the server's CPU, and clients that READ. Choose for each problem
 *   VERSION       one record, with a version that is odd during each update
 *                 (lesson 07);
 *   TWO_BUFFERS   a generation and two buffers, and a second look;
 *   FOUR_BUFFERS  the same with four; two generations may pass;
 *   LEASE         two buffers; the reader adds 1 to a count, and the writer
 *                 waits for the reader (exercise 8.3).
 * The judge runs what you chose, and says what it loses.
 *
 * long_updates: An update takes as long as five small requests. The next one
 *     begins at once. There is memory for two buffers. The writer never waits.
 * never_rests: The writer is fast: one generation in the middle of each READ of
 *     a buffer, and half a generation between two requests. There is memory for
 *     four buffers. The writer never waits.
 * slow_reader: While a client READs a buffer, the writer could write ten. Small
 *     requests are fast. There is memory for two buffers. The writer may wait,
 *     and no client dies.
 */
#include "5_which_one.h"

const int long_updates = UNANSWERED; /* TODO 8.5 */
const int never_rests = UNANSWERED;
const int slow_reader = UNANSWERED;
