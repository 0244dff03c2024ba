/* SPDX-License-Identifier: MIT */
#include "driver.h"

enum { NO_COMPLETION = 100 };

extern const int stopped, withdrawn, killed; /* the exercise's */
