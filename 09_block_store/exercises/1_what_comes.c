/* SPDX-License-Identifier: MIT */
/*
 * Exercise 9.1 - predict: what comes, and what is left?       * 10 minutes
 *
 * You are the server.
 *
 * completions: a client wants to read, and its region lacks REMOTE_WRITE. You post
 * a WRITE, not SIGNALED, and behind it the SEND of the reply, SIGNALED, as one
 * list. How many completions do you get?
 *
 * reply: the client has posted a receive. How many replies does it get?
 *
 * left: eight receives are in a shared queue. The first client SENDs three commands,
 * and each takes one. Then you put the QP of this client into state ERR. Nothing is
 * posted again. How many commands of another client can still be received?
 *
 * Choose NONE, ONE, TWO, THREE, FIVE or EIGHT for each.
 */
#include "1_what_comes.h"

const int completions = UNANSWERED; /* TODO 9.1 */
const int reply = UNANSWERED;
const int left = UNANSWERED;
