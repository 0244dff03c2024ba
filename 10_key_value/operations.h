/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/operations.h - the clients, what they do, and whether it was right.
 * (operations.c)
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "history.h"
#include "table.h"

enum {
	BUSY = CLIENTS - 1,  /* at work at once; the last one stops in act 5 */
	LIVES = CLIENTS + 2, /* and comes back twice in act 6 */
	ROUNDS = 10,         /* of what is made to happen */
};
enum kind { GET, PUT, INSERT, DELETE };

extern struct worker worker[CLIENTS];
extern int life; /* whose history is that of the last client */

void connect_all(const struct options *opt);
void connect_again(struct worker *w);
/* Three clients at once: one here, the others in threads. */
void together(void *(*act)(void *));

/* Written down as begun, and not ended. */
struct op *begin(const struct worker *w, uint64_t key);
const struct op *operate(struct worker *w, enum kind kind, uint64_t key);
/* Dies if what the clients found cannot have happened. */
void judge(int act);

#endif
