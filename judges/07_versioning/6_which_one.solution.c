/* SPDX-License-Identifier: MIT */
/* Solution of exercise 7.6 - what protects this record? */
#include "6_which_one.h"

const int small_field = VERSION; /* READs only what is wanted, holds nothing */
const int far_away = CHECKSUM; /* the record says itself whether it is whole */
const int transfer = LOCK;     /* whole when READ is not enough: still so? */
