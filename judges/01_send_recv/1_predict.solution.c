/* SPDX-License-Identifier: MIT */
/* Solution of exercise 1.1 - three things to know before you post */
#include "1_predict.h"

/* The first is signaled, the second fails, the two behind it are flushed. */
const int how_many = 4;

/* Receives are used in the order in which they were posted, whatever fits. */
const int which_receive = TAKES_A;

/* The CPU copies the bytes in ibv_post_send: no region, no lkey. */
const int inline_status = IBV_WC_SUCCESS;
