/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/history.c - could it have happened one after the other?
 *
 * Each operation on a key finds what is there, and leaves what was found or
 * something else. A history is linearizable if the operations can be put into
 * one order in which each finds what the one before it left, and none comes
 * before another that had ended when it began. Keys do not touch each other, so
 * each key is judged alone (Herlihy and Wing, TOPLAS 1990, locality).
 *
 * The search is that of Wing and Gong (JPDC 1993), with a memory of where it has
 * been (Lowe, 2017): a client does one thing at a time, so all that matters is
 * how far each client is, and what the key holds. tests/history.c is a program
 * around this. You need not read it to understand the lesson.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

/* The clock: who ended before another began is known. */
uint64_t tick(void)
{
	static _Atomic uint64_t clock;

	return ++clock;
}

/* Into the file that HISTORY names in the environment, for tests/history. */
void keep_history(const struct history *h, int clients, int slots)
{
	const char *name = getenv("HISTORY");
	FILE *f = name ? fopen(name, "w") : NULL;

	if (f)
		fprintf(f, "slots %d\n", slots);
	for (int c = 0; f && c < clients; c++)
		for (const struct op *o = h[c].op; o < h[c].op + h[c].n; o++)
			fprintf(f, "%d %ju %ju %ju %ju %ju\n", c,
				(uintmax_t)o->key, (uintmax_t)o->found,
				(uintmax_t)o->after, (uintmax_t)o->start,
				(uintmax_t)o->end);
	if (f && fclose(f) != 0)
		abort();
}

/* How many each client has behind it, and what the key holds then. */
struct state {
	int done[MOST_CLIENTS];
	uint64_t value;
};

/* States that were reached: a stack of those to go on from, and a table of all,
 * with open addressing. Both grow. */
struct search {
	struct state *stack, *table;
	size_t on_stack, stack_size, used, table_size;
};

static void *more(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		abort();
	return p;
}

/* The place of s in the table; a free one has done[0] -1. */
static struct state *place(const struct search *x, const struct state *s)
{
	uint64_t h = s->value * 0x9e3779b97f4a7c15;

	for (int c = 0; c < MOST_CLIENTS; c++)
		h = (h ^ (h >> 29) ^ (uint64_t)s->done[c]) * 0xbf58476d1ce4e5b9;
	for (size_t i = h >> 20;; i++) {
		struct state *at = &x->table[i & (x->table_size - 1)];

		if (at->done[0] == -1 || memcmp(at, s, sizeof *s) == 0)
			return at;
	}
}

static void reach(struct search *x, const struct state *s)
{
	if (x->used * 2 >= x->table_size) {
		struct search old = *x;

		x->table_size = old.table_size ? 2 * old.table_size : 1024;
		x->table = more(NULL, x->table_size, sizeof *s);
		memset(x->table, 0xff, x->table_size * sizeof *s);
		for (size_t i = 0; i < old.table_size; i++)
			if (old.table[i].done[0] != -1)
				*place(x, &old.table[i]) = old.table[i];
		free(old.table);
	}
	struct state *at = place(x, s);
	if (at->done[0] != -1)
		return;
	*at = *s;
	x->used++;
	if (x->on_stack == x->stack_size) {
		x->stack_size = x->stack_size ? 2 * x->stack_size : 1024;
		x->stack = more(x->stack, x->stack_size, sizeof *s);
	}
	x->stack[x->on_stack++] = *s;
}

/*
 * The histories of one key. If there is an order, returns NULL; else one of the
 * operations at which the longest order ends, and the value that the key holds
 * then.
 */
static const struct op *misfit(const struct history *h, int clients,
			       uint64_t *value)
{
	struct search x = { 0 };
	const struct op *stuck = NULL;
	int longest = -1;

	reach(&x, &(struct state){ 0 });
	while (x.on_stack > 0) {
		struct state s = x.stack[--x.on_stack];
		const struct op *first = NULL; /* that ends */
		int length = 0;

		for (int c = 0; c < clients; c++) {
			length += s.done[c];
			if (s.done[c] == h[c].n)
				continue;
			const struct op *o = &h[c].op[s.done[c]];
			if (o->end != NEVER && (!first || o->end < first->end))
				first = o;
		}
		if (!first) { /* what is left need never happen */
			stuck = NULL;
			break;
		}
		if (length > longest) {
			longest = length;
			stuck = first;
			*value = s.value;
		}
		for (int c = 0; c < clients; c++) {
			if (s.done[c] == h[c].n)
				continue;
			const struct op *o = &h[c].op[s.done[c]];
			if (o->start > first->end ||
			    (o->found != ANY && o->found != s.value))
				continue;
			struct state next = s;
			next.done[c]++;
			if (o->after != FULL)
				next.value = o->after;
			reach(&x, &next);
		}
	}
	free(x.stack);
	free(x.table);
	return stuck;
}

/* The smallest key of an operation from this one on, or NO_KEY. */
static uint64_t next_key(const struct history *h, int clients, uint64_t from)
{
	uint64_t next = NO_KEY;

	for (int c = 0; c < clients; c++)
		for (int i = 0; i < h[c].n; i++)
			if (h[c].op[i].key >= from && h[c].op[i].key < next)
				next = h[c].op[i].key;
	return next;
}

static const struct op *begun_at(const struct history *h, int clients,
				 uint64_t start)
{
	for (int c = 0; c < clients; c++)
		for (int i = 0; i < h[c].n; i++)
			if (h[c].op[i].start == start)
				return &h[c].op[i];
	return NULL;
}

/* The same for histories of several keys: each key alone. Keys are absent at
 * first. */
const struct op *misfit_of_any(const struct history *h, int clients,
			       uint64_t *value)
{
	struct history one[MOST_CLIENTS];
	struct op *copy[MOST_CLIENTS];
	const struct op *found = NULL;

	for (int c = 0; c < clients; c++) {
		copy[c] = more(NULL, (size_t)h[c].n + 1, sizeof *copy[c]);
		for (int i = 0; i < h[c].n; i++)
			if (h[c].op[i].key == NO_KEY)
				found = &h[c].op[i];
	}
	for (uint64_t key = next_key(h, clients, 0); key != NO_KEY && !found;
	     key = next_key(h, clients, key + 1)) {
		for (int c = 0; c < clients; c++) {
			one[c] = (struct history){ .op = copy[c], .n = 0 };
			for (int i = 0; i < h[c].n; i++)
				if (h[c].op[i].key == key)
					copy[c][one[c].n++] = h[c].op[i];
		}
		found = misfit(one, clients, value);
		if (found) /* copy[] ends with us */
			found = begun_at(h, clients, found->start);
	}
	for (int c = 0; c < clients; c++)
		free(copy[c]);
	return found;
}

/* Has this key perhaps been put into the table, before that time? */
static bool may_be_there(const struct history *h, int clients, uint64_t key,
			 uint64_t time)
{
	for (int c = 0; c < clients; c++)
		for (int i = 0; i < h[c].n; i++) {
			const struct op *o = &h[c].op[i];

			if (o->key == key && o->start < time &&
			    o->after != FULL && o->after != o->found)
				return true;
		}
	return false;
}

/* An operation that found no slot for its key, although fewer other keys than there are
 * slots can have been there; or NULL. A key keeps its slot for ever. */
const struct op *false_full(const struct history *h, int clients, int slots)
{
	for (int c = 0; c < clients; c++)
		for (int i = 0; i < h[c].n; i++) {
			const struct op *o = &h[c].op[i];
			int there = 0;

			if (o->after != FULL)
				continue;
			for (uint64_t key = next_key(h, clients, 0);
			     key != NO_KEY; key = next_key(h, clients, key + 1))
				there += key != o->key &&
					 may_be_there(h, clients, key, o->end);
			if (there < slots)
				return o;
		}
	return NULL;
}
