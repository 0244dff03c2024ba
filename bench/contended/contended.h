/* SPDX-License-Identifier: MIT */
/*
 * bench/contended/contended.h - what both sides must agree on.
 *
 * One writer changes a record, each period anew, and one reader reads it. How often is
 * the reader in time? Three designs: a version (lesson 07), K buffers (lesson 08), and a
 * version that a client takes by COMPARE_AND_SWAP (lesson 10).
 */
#ifndef CONTENDED_H
#define CONTENDED_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { LESSON = 102 }; /* not one of them */
enum { WORDS = 750, MOST_BUFFERS = 8 };

/* Update n fills a buffer with n: a buffer with two different words is torn. */
struct shared {
	/* The version, odd while somebody writes; or, with K buffers, the number of
	 * the last update that is complete. */
	_Alignas(64) _Atomic uint64_t word;
	_Alignas(64) uint64_t buffer[MOST_BUFFERS][WORDS];
};

struct settings {
	unsigned buffers; /* 1: a version */
	bool remote;      /* the client writes, and the server does nothing */
	long period_us;   /* from one update to the next */
	long update_us;   /* the writer rests so long, in the middle of each */
	long read_us;     /* and the reader, in the middle of each read */
	int tries;        /* so many reads */
};

static inline long number(const char *text, char letter, long least, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < least || n > most)
		die("-%c takes a number from %ld to %ld, not \"%s\"", letter,
		    least, most, text);
	return n;
}

static inline struct settings parse(int argc, char **argv, const char *role,
				    struct options *opt)
{
	const char *design = "version", *period = "8000", *update = "500",
		   *pause = "2000", *tries = "100";
	struct own_option own[] = {
		{ 'D', "version, buffers:K, or remote (version)", &design },
		{ 'P', "us from one update to the next (8000)", &period },
		{ 'U', "us that the writer rests in an update (500)", &update },
		{ 'R', "us that the reader rests in a read (2000)", &pause },
		{ 'n', "reads (100)", &tries },
		{ 0 },
	};

	*opt = parse_args_and(argc, argv, role, LESSON, own);
	struct settings set = {
		.buffers = 1,
		.period_us = number(period, 'P', 100, 1000000),
		.update_us = number(update, 'U', 0, 1000000),
		.read_us = number(pause, 'R', 0, 1000000),
		.tries = (int)number(tries, 'n', 1, 1000000),
	};
	if (strncmp(design, "buffers:", 8) == 0)
		set.buffers =
			(unsigned)number(design + 8, 'D', 2, MOST_BUFFERS);
	else if (strcmp(design, "remote") == 0)
		set.remote = true;
	else if (strcmp(design, "version") != 0)
		die("-D does not know \"%s\": see -h", design);
	return set;
}

/* What the writer took on average, in ns; the reader says it in its result. */
struct times {
	uint64_t period, update;
};

/* One update after the other, each a period after the one before, or as soon as that is
 * over. */
struct clockwork {
	double first, begun, updating; /* ms; the last is a sum */
	uint64_t n;                    /* updates that have begun */
};

static inline void sleep_until(double ms)
{
	struct timespec t = {
		.tv_sec = (time_t)(ms / 1e3),
		.tv_nsec = (long)(ms * 1e6) % 1000000000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

static inline uint64_t begin_update(struct clockwork *c,
				    const struct settings *set)
{
	if (c->n == 0)
		c->first = now_ms();
	else
		sleep_until(c->begun + (double)set->period_us / 1e3);
	c->begun = now_ms();
	return ++c->n;
}

static inline struct times average(const struct clockwork *c)
{
	double updates = (double)(c->n ? c->n : 1);
	double periods = (double)(c->n > 1 ? c->n - 1 : 1);

	return (struct times){
		.period = (uint64_t)((c->begun - c->first) / periods * 1e6),
		.update = (uint64_t)(c->updating / updates * 1e6),
	};
}

#endif
