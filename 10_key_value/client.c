/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/client.c - three clients at work at once, while the server sleeps.
 *
 * The clients do all that a key-value server would do: table.c has the requests,
 * operations.c has GET, PUT, INSERT and DELETE, and asks whether what was found can have
 * happened.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "operations.h"
#include "stopped.h"

enum { HOT = 2 }; /* keys of act 2 */
#ifndef REST
#define REST 500 /* us */
#endif

static pthread_barrier_t all_here;
static _Atomic int looked, halves, seen_odd; /* in this round */

static void wait_until(struct worker *w, const _Atomic int *count, int n)
{
	double since = now_ms();

	while (*count < n)
		keep_waiting(&w->ep, since, "the other clients");
}

/* All know the version before one of them swaps it. */
static void meet_at_swap(struct worker *w, enum moment m)
{
	if (m != TO_SWAP)
		return;
	looked++;
	wait_until(w, &looked, BUSY);
}

/*
 * DOC: meet. Bad moments are short, so here they are made to happen. Client 1 GETs: it
 * has looked at the version once when the other two swap that version, and it READs the
 * record when half of the new one is there. Then it looks again.
 */
static void meet(struct worker *w, enum moment m)
{
	if (w->id != 1)
		meet_at_swap(w, m);
	if (w->id != 1 && m == HALF) {
		halves++;
		wait_until(w, &seen_odd, 1);
	} else if (w->id == 1 && m == ONE_LOOK) {
		looked++;
		wait_until(w, &halves, 1);
	} else if (w->id == 1 && m == SEES_ODD) {
		seen_odd = 1;
	}
}

/* Ends a round. All begin the next one together. */
static void all_meet(const struct worker *w)
{
	pthread_barrier_wait(&all_here);
	if (w->id == 1)
		looked = halves = seen_odd = 0;
	pthread_barrier_wait(&all_here);
}

static void rest(struct worker *w, enum moment m)
{
	if (m != SEES_ODD && rand_r(&w->seed) % 2 == 0)
		usleep(REST);
}

static int trips(enum kind kind, uint64_t key)
{
	int before = worker[0].trips;

	operate(&worker[0], kind, key);
	return worker[0].trips - before;
}

/* Nobody else is at work, and each key is in the first slot for it. */
static void count_trips(void)
{
	int insert = trips(INSERT, 9), again = trips(INSERT, 9);
	int get = trips(GET, 9), none = trips(GET, 10);
	int update = trips(PUT, 9), delete = trips(DELETE, 9);

	say("act 1: round trips: GET %d, of a key that is not there %d", get,
	    none);
	say("act 1: round trips: INSERT %d, if the key is there %d", insert,
	    again);
	say("act 1: round trips: PUT %d, DELETE %d; %d of these find the slot",
	    update, delete, get);
}

/* One client GETs a key, two PUT it. Counts the GETs that had to look again, and the PUTs
 * that lost their swap. */
static _Atomic int again, lost;

static void *get_meets_puts(void *arg)
{
	struct worker *w = arg;

	w->pause = meet;
	for (int i = 0; i < ROUNDS; i++) {
		int rejected = w->rejected, swaps = w->lost;

		operate(w, w->id == 1 ? GET : PUT, 1);
		if (w->id == 1) { /* the others wait for it, also if it had */
			looked++; /* no such moments */
			seen_odd = 1;
		}
		again += w->id == 1 && w->rejected > rejected;
		lost += w->lost > swaps;
		all_meet(w);
	}
	w->pause = NULL;
	return NULL;
}

/* Two keys that want the same slot. The one that has it is deleted. */
static void delete_the_first(void)
{
	operate(&worker[0], INSERT, 1 + SLOTS);
	operate(&worker[0], DELETE, 1);
	operate(&worker[0], PUT, 1 + SLOTS);
}

/* The same keys, and no order. */
static void *in_no_order(void *arg)
{
	static const enum kind kinds[] = { GET, GET, GET,    GET,
					   PUT, PUT, INSERT, DELETE };
	struct worker *w = arg;

	w->pause = rest;
	for (int i = 0; i < OPS; i++) {
		uint64_t key = 1 + SLOTS * (unsigned)(rand_r(&w->seed) % HOT);

		operate(w, kinds[rand_r(&w->seed) % 8], key);
	}
	w->pause = NULL;
	return NULL;
}

/* All INSERT one key at once. Then client 1 deletes it. */
static void *all_insert(void *arg)
{
	static _Atomic int inserted;
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		w->pause = meet_at_swap;
		inserted += operate(w, INSERT, 5)->found == 0;
		w->pause = NULL;
		all_meet(w);
		if (inserted != i + 1)
			die("act 3: %d clients inserted the key", inserted - i);
		if (w->id == 1)
			operate(w, DELETE, 5);
		all_meet(w);
	}
	return NULL;
}

static void fill_the_table(void)
{
	uint64_t key = 100;

	while (operate(&worker[0], PUT, key)->after != FULL)
		if (key++ == 100 + SLOTS)
			die("act 4: more keys than slots");
	operate(&worker[0], DELETE, 100);
	if (operate(&worker[0], PUT, key)->after != FULL)
		die("act 4: a key in the slot of a deleted key");
	judge(4);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);

	connect_all(&opt);
	count_trips();
	barrier(&worker[0].ep);

	int rc = pthread_barrier_init(&all_here, NULL, BUSY);
	if (rc)
		die_err(rc, "pthread_barrier_init");
	together(get_meets_puts);
	delete_the_first();
	judge(2);
	say("act 2: in the middle of a PUT: %d GETs, which looked again",
	    again);
	say("act 2: two PUTs of one version: %d lost the swap", lost);
	together(in_no_order);
	judge(2);
	say("act 2: 3 clients, %d operations: one order explains all of them",
	    BUSY * (ROUNDS + OPS) + 3);
	barrier(&worker[0].ep);

	together(all_insert);
	say("act 3: 3 clients INSERT one key: one of them did, %d times",
	    ROUNDS);
	barrier(&worker[0].ep);

	fill_the_table();
	say("act 4: the table is full, and a DELETE frees no slot");
	barrier(&worker[0].ep);

	client_4_stops();
	say("act 5: client 4 stopped in its PUT: another client ended it");
	say("act 5: client 4 was only slow: its late WRITE did nothing");
	barrier(&worker[0].ep);

	client_4_comes_back();
	say("act 6: client 4 came back, and ended its PUT itself");
	barrier(&worker[0].ep);
	for (int i = 0; i < CLIENTS; i++)
		note("client %d: %d round trips; looks again %d, swaps lost %d",
		     i + 1, worker[i].trips, worker[i].rejected,
		     worker[i].lost);
	say("PASS all that was found is explained by one order for each key");

	rc = ibv_dereg_mr(worker[0].mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	for (int i = BUSY; i >= 0; i--)
		ep_close(&worker[i].ep);
	return 0;
}
