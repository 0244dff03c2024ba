/* SPDX-License-Identifier: MIT */
#include "driver.h"

enum { LOCK, VERSION, CHECKSUM, TWO_COPIES };

/* The exercise's. */
extern const int small_field, far_away, transfer;
