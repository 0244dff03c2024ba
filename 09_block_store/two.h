/* SPDX-License-Identifier: MIT */
/* 09_block_store/two.h - act 4 of the client. (two.c) */
#ifndef TWO_H
#define TWO_H

#include "ask.h"

/* Both use the same blocks. Then the second one breaks the rules, twice. */
void two_clients(struct client *one, const struct options *opt);

#endif
