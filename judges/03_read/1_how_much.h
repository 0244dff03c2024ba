/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { NONE, FIRST_PACKET, ALL_BUT_ONE, ALL }; /* bytes that have come */

extern const int no_byte, one_too_many, behind_it; /* the exercise's */
