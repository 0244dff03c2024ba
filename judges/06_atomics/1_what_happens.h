/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { EXECUTED, FLUSHED, SKIPPED, WAITS };      /* behind_a_failure */
enum { THE_SAME, ONE_MORE, BECOMES_0, REFUSED }; /* other_half */

/* The exercise's. */
extern const int behind_a_failure, other_half, only_atomic;
