/* SPDX-License-Identifier: MIT */
/* Solution of exercise 0.1 - what do the completions say? */
#include "1_predict.h"

/* The peer's NIC takes the message and sends the ACK, not the peer's program. */
const int asleep = IBV_WC_SUCCESS;

/* A message stays a message: each takes a receive, and byte_len is its length. */
const int two_messages = TWO_OF_5;

/* The flag is for the sender's completion. A receive always has one. */
const int without_flag = ONLY_PEER;
