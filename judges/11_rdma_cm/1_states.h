/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int accepted, unread, hung_up, refused;
