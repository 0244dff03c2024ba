/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { TCP_EXCHANGE, CM_THEN_SEND, CM_PRIVATE_DATA };

/* The exercise's. */
extern const int one_region, forty_regions, no_address;
