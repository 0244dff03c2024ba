/* SPDX-License-Identifier: MIT */
/* Solution of exercise 10.5 - one-sided, or a SEND? */
#include "5_choose.h"

const int quotes = CHECKSUM; /* one round trip, and nobody answers */
const int board = VERSION;   /* readers only READ, writers exclude each other */
const int transfer = LOCK;   /* one word for two records */
const int account = SEND;    /* a dead client has sent nothing, or all */
