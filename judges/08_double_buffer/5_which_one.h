/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { VERSION, TWO_BUFFERS, FOUR_BUFFERS, LEASE };

/* The exercise's. */
extern const int long_updates, never_rests, slow_reader;
