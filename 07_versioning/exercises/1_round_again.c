/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.1 - predict: the same version again              * 10 minutes
 *
 * Here the version is one byte: after 255 comes 0. The writer adds 1 before
 * each update and 1 after it. The reader READs the version, the first half of
 * the data, the second half, the version again. It accepts the record if both
 * versions are equal and even.
 *
 * In the middle of such a read the writer makes many whole updates:
 *   after_127: 127 between the READs of the version and the first half;
 *   after_128: 128 between the READs of the version and the first half;
 *   twice_64:  64 between the two halves, and 64 between the second half and
 *              the second READ of the version.
 *
 * What does the reader do, and what has it read? Choose for each one of
 * REJECTED_WHOLE, REJECTED_TORN, ACCEPTED_WHOLE, ACCEPTED_TORN. (Torn: the two
 * halves are not of the same update.)
 */
#include "1_round_again.h"

const int after_127 = UNANSWERED; /* TODO 7.1 */
const int after_128 = UNANSWERED;
const int twice_64 = UNANSWERED;
