/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int empty_write, places_changed, open_keys;

enum { NO_PLACE, ONLY_FIRST, FIRST_AND_THIRD, ALL_THREE }; /* places_changed */
enum { NEITHER, ONLY_A, ONLY_B, BOTH };                    /* open_keys */
