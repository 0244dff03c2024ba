/* SPDX-License-Identifier: MIT */
/* Solution of exercise 11.5 - how do they get to know each other? */
#include "5_choose.h"

/* One trip: the answer has it all. */
const int one_region = CM_PRIVATE_DATA;

/* 800 bytes do not fit into an answer. */
const int forty_regions = CM_THEN_SEND;

/* The CM begins with an IP address, and TCP may use the other network. */
const int no_address = TCP_EXCHANGE;
