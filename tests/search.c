/* SPDX-License-Identifier: MIT */
/* tests/search.c - breadth first, with a table of the states that were reached. */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	uint32_t n, room;      /* states; and there is memory for */
	char *state;           /* one after the other */
	uint32_t *from;        /* the state before it */
	unsigned char *choice; /* of the step from there */
	uint32_t *table;       /* of the numbers of states, from 1; 0: free */
} all;

static void *at(const struct search *x, uint32_t i)
{
	return all.state + i * x->size;
}

/* Its place in the table: a free one, if it was not reached yet. */
static uint32_t *place(const struct search *x, const void *state)
{
	uint64_t h = 0;

	for (size_t i = 0; i < x->size; i++)
		h = (h ^ ((const unsigned char *)state)[i]) *
		    0x9e3779b97f4a7c15;
	for (h ^= h >> 32;; h++) {
		uint32_t *p = &all.table[h % (2 * all.room)];

		if (*p == 0 || memcmp(at(x, *p - 1), state, x->size) == 0)
			return p;
	}
}

static void *more(void *p, size_t size)
{
	p = reallocarray(p, all.room, size);
	if (!p)
		abort();
	return p;
}

static void grow(const struct search *x)
{
	all.room = all.room ? 2 * all.room : 1 << 16;
	all.state = more(all.state, x->size);
	all.from = more(all.from, sizeof *all.from);
	all.choice = more(all.choice, 1);
	all.table = more(all.table, 2 * sizeof *all.table);
	memset(all.table, 0, 2 * all.room * sizeof *all.table);
	for (uint32_t i = 0; i < all.n; i++)
		*place(x, at(x, i)) = i + 1;
}

static void reach(const struct search *x, const void *state, uint32_t from,
		  int choice)
{
	uint32_t *p;

	if (all.n == all.room)
		grow(x);
	p = place(x, state);
	if (*p != 0)
		return;
	memcpy(at(x, all.n), state, x->size);
	all.from[all.n] = from;
	all.choice[all.n] = (unsigned char)choice;
	*p = ++all.n;
}

/* NOLINTNEXTLINE(misc-no-recursion) as deep as the way is long */
static void show_way(const struct search *x, uint32_t i)
{
	if (i == 0)
		return;
	show_way(x, all.from[i]);
	x->show(at(x, all.from[i]), all.choice[i]);
}

const char *search(const struct search *x, const void *first, uint32_t *states)
{
	void *state = malloc(x->size);
	const char *wrong = NULL;

	if (!state)
		abort();
	reach(x, first, 0, 0);
	for (uint32_t i = 0; i < all.n && !wrong; i++) {
		wrong = x->wrong_with(at(x, i));
		if (wrong)
			show_way(x, i);
		for (int k = 0; k < x->choices && !wrong; k++) {
			memcpy(state, at(x, i), x->size);
			if (x->step(state, k))
				reach(x, state, i, k);
		}
	}
	*states = all.n;
	free(state);
	return wrong;
}
