/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* What the reader did with its record, and whether both halves of that were
 * of one update. */
enum { REJECTED_WHOLE, REJECTED_TORN, ACCEPTED_WHOLE, ACCEPTED_TORN };

/* The exercise's. */
extern const int after_127, after_128, twice_64;
