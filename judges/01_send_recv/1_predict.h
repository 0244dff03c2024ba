/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int how_many, which_receive, inline_status;

enum { TAKES_A, TAKES_B, TAKES_C, TAKES_NONE }; /* which_receive */
