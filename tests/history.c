/* SPDX-License-Identifier: MIT */
/*
 * tests/history.c - the judge of lesson 10, 10_key_value/history.c, on its own.
 *
 * usage: history FILE...   can what is written there have happened? A line for
 *                          each file, and status 1 if one of them cannot
 *        history -r N      N small histories by chance: does the judge agree with
 *                          a program that tries all orders?
 *
 * A file has a line for each operation: client, key, found, after, start, end. Those of
 * a client stand in their order. "-" as found: nobody knows. "-" as after: there was no
 * slot for the key. "-" as end: it has perhaps happened, or will, or never; the client
 * did no more. "slots N" says how many slots the table has. # begins a comment.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../10_key_value/history.h"

enum { SMALL = 7 };

static void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	exit(2);
}

static uint64_t number(const char *file, int line, const char *word)
{
	char *end;

	if (strcmp(word, "-") == 0)
		return UINT64_MAX;
	errno = 0;
	uint64_t n = strtoull(word, &end, 10);
	if (errno || end == word || *end)
		fail(file, line, "not a number");
	return n;
}

/* Reads a file into h[]; returns how many operations there are. */
static int read_file(const char *file, struct history h[MOST_CLIENTS],
		     int *slots)
{
	struct op *op[MOST_CLIENTS] = { NULL };
	char text[256], word[6][24];
	int line = 0, all = 0;
	FILE *f = fopen(file, "r");

	if (!f)
		fail(file, 0, strerror(errno));
	memset(h, 0, MOST_CLIENTS * sizeof *h);
	while (fgets(text, sizeof text, f)) {
		line++;
		if (*text == '#' || *text == '\n')
			continue;
		if (sscanf(text, "slots %23s", word[0]) == 1) {
			*slots = (int)number(file, line, word[0]);
			continue;
		}
		if (sscanf(text, "%23s %23s %23s %23s %23s %23s", word[0],
			   word[1], word[2], word[3], word[4], word[5]) != 6)
			fail(file, line, "not six words");
		uint64_t c = number(file, line, word[0]);
		if (c >= MOST_CLIENTS)
			fail(file, line, "no such client");
		struct op o = {
			.key = number(file, line, word[1]),
			.found = number(file, line, word[2]),
			.after = number(file, line, word[3]),
			.start = number(file, line, word[4]),
			.end = number(file, line, word[5]),
		};
		if (o.after == FULL && *slots == 0)
			fail(file, line, "how many slots are there?");
		if (o.start >= o.end)
			fail(file, line, "it ends before it begins");
		if (h[c].n > 0 && op[c][h[c].n - 1].end >= o.start)
			fail(file, line, "the client is not done with another");
		op[c] = reallocarray(op[c], (size_t)h[c].n + 1, sizeof o);
		if (!op[c])
			abort();
		op[c][h[c].n++] = o;
		h[c].op = op[c];
		all++;
	}
	fclose(f);
	return all;
}

static bool judge_file(const char *file)
{
	struct history h[MOST_CLIENTS];
	uint64_t value = 0;
	int slots = 0, n = read_file(file, h, &slots);
	const struct op *full = false_full(h, MOST_CLIENTS, slots),
			*o = misfit_of_any(h, MOST_CLIENTS, &value);

	if (full)
		printf("%s: no order: at %ju to %ju there is no slot for key "
		       "%ju, and fewer than %d other keys\n",
		       file, (uintmax_t)full->start, (uintmax_t)full->end,
		       (uintmax_t)full->key, slots);
	else if (o)
		printf("%s: no order: key %ju holds %ju, and at %ju to %ju "
		       "somebody finds %ju\n",
		       file, (uintmax_t)o->key, (uintmax_t)value,
		       (uintmax_t)o->start, (uintmax_t)o->end,
		       (uintmax_t)o->found);
	else
		printf("%s: one order explains all %d operations\n", file, n);
	for (int c = 0; c < MOST_CLIENTS; c++)
		free((void *)h[c].op);
	return !o && !full;
}

/* All orders of the operations that are not in `used`. */
/* NOLINTNEXTLINE(misc-no-recursion) as deep as there are operations */
static bool some_order(const struct op *o, int n, unsigned used, uint64_t value)
{
	bool left = false;

	for (int i = 0; i < n; i++) {
		bool first = true;

		if (used & 1u << i)
			continue;
		left |= o[i].end != NEVER;
		for (int k = 0; k < n; k++)
			if (!(used & 1u << k) && o[k].end < o[i].start)
				first = false;
		if (first && (o[i].found == ANY || o[i].found == value) &&
		    some_order(o, n, used | 1u << i, o[i].after))
			return true;
	}
	return !left;
}

/* Three clients, one key, values 0 to 2. */
static bool by_chance(unsigned *seed)
{
	struct op o[SMALL] = { { 0 } }, mine[MOST_CLIENTS][SMALL];
	struct history h[MOST_CLIENTS] = { { NULL, 0 } };
	bool over[MOST_CLIENTS] = { false };
	uint64_t at[MOST_CLIENTS] = { 0 }, value = 0;
	int n = 1 + rand_r(seed) % SMALL, all = 0;

	for (int i = 0; i < n; i++) {
		int c = rand_r(seed) % 3;

		if (over[c])
			continue;
		uint64_t start = at[c] + 1 + (unsigned)(rand_r(seed) % 9);
		at[c] = start + 1 + (unsigned)(rand_r(seed) % 9);
		over[c] = rand_r(seed) % 8 == 0;
		/* Different for each client: no two ticks are the same. */
		o[all] = (struct op){
			.found = (unsigned)(rand_r(seed) % 3),
			.after = (unsigned)(rand_r(seed) % 3),
			.start = start * 4 + (unsigned)c,
			.end = over[c] ? NEVER : at[c] * 4 + (unsigned)c,
		};
		if (rand_r(seed) % 2)
			o[all].after = o[all].found; /* a GET */
		if (over[c])
			o[all].found = ANY;
		mine[c][h[c].n++] = o[all++];
		h[c].op = mine[c];
	}
	bool yes = !misfit_of_any(h, 3, &value);
	if (yes == some_order(o, all, 0, 0))
		return yes;
	for (int i = 0; i < all; i++)
		printf("found %jd after %jd from %jd to %jd\n",
		       (intmax_t)o[i].found, (intmax_t)o[i].after,
		       (intmax_t)o[i].start, (intmax_t)o[i].end);
	printf("the judge says %s, and it is not so\n", yes ? "yes" : "no");
	exit(1);
}

int main(int argc, char **argv)
{
	bool good = true;

	if (argc == 3 && strcmp(argv[1], "-r") == 0) {
		long n = strtol(argv[2], NULL, 10), yes = 0;
		unsigned seed = 1;

		for (long i = 0; i < n; i++)
			yes += by_chance(&seed);
		printf("%ld histories by chance, %ld of them with an order: so "
		       "says who tries all\n",
		       n, yes);
		return yes == 0 || yes == n;
	}
	for (int i = 1; i < argc; i++)
		good &= judge_file(argv[i]);
	return !good;
}
