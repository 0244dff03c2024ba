/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/history.h - could it have happened one after the other? (history.c)
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdint.h>

#define ANY UINT64_MAX    /* found: nobody knows */
#define FULL UINT64_MAX   /* after: there was no slot for this key */
#define NEVER UINT64_MAX  /* end: it has perhaps happened, or will, or never */
#define NO_KEY UINT64_MAX /* key: none; an operation with it is a misfit */

enum { MOST_CLIENTS = 6 };

/* start and end are ticks of one clock, all different. 0 as value: absent. */
struct op {
	uint64_t key, found, after, start, end;
};

/* What one client did, in that order. Only its last may end NEVER. */
struct history {
	const struct op *op;
	int n;
};

/* The clock: who ended before another began is known. */
uint64_t tick(void);

/* Into the file that HISTORY names in the environment, for tests/history. */
void keep_history(const struct history *h, int clients, int slots);

/*
 * Histories of several keys, which are absent at first. If there is an order for each
 * key, returns NULL; else one of the operations at which the longest order of its key
 * ends, and the value that the key holds then.
 */
const struct op *misfit_of_any(const struct history *h, int clients,
			       uint64_t *value);

/* An operation that found no slot for its key, although fewer other keys than there are
 * slots can have been put; NULL: there is none. */
const struct op *false_full(const struct history *h, int clients, int slots);

#endif
