/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* What the reader does with its buffer, and what is in it: all of the
 * generation that it wanted (whole), all of another one, or parts of two. */
enum { REJECTED_WHOLE, REJECTED_OTHER, REJECTED_TORN };
enum { ACCEPTED_WHOLE = 3, ACCEPTED_OTHER, ACCEPTED_TORN };

/* The exercise's. */
extern const int two_and_a_half, three, index_only;
