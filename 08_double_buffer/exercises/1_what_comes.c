/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.1 - predict: what does the reader get?           * 15 minutes
 *
 * Four buffers, as in act 3 of the lesson: generation g is in buffer g % 4. The
 * reader READs the generation, the first half of its buffer, the second half,
 * the generation again. It accepts if the writer has published at most two
 * generations meanwhile. The writer is fast:
 *   two_and_a_half: between the two halves it publishes two generations, and
 *               writes half of the third;
 *   three:      between the two halves it publishes three generations, and then
 *               rests;
 *   index_only: between the READs of the generation and the first half it
 *               publishes four generations. This reader accepts if g % 4 is
 *               what it was.
 *
 * What does the reader do, and what is in its buffer? Choose for each one of
 * REJECTED_WHOLE, REJECTED_OTHER, REJECTED_TORN, ACCEPTED_WHOLE,
 * ACCEPTED_OTHER, ACCEPTED_TORN. (WHOLE: all of it is of the generation that
 * was READ first. OTHER: all is of another generation. TORN: parts of two.)
 */
#include "1_what_comes.h"

const int two_and_a_half = UNANSWERED; /* TODO 8.1 */
const int three = UNANSWERED;
const int index_only = UNANSWERED;
