/* SPDX-License-Identifier: MIT */
#include "judge.h"

extern const int stopped, withdrawn, killed; /* the exercise's */
