/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/client.c - GET, PUT, INSERT and DELETE, while the server sleeps.
 *
 * The clients do all that a key-value server would do: table.h has the requests.
 * Three clients are at work at once, and each writes down what its operations
 * found and left. Were they right? Each value may be right in itself, and yet be
 * old, or lost. So the question is: is there any order, one operation after the
 * other, in which all of that can have happened? (history.h)
 */
#include <errno.h>
#include <stdatomic.h>

#include "history.h"
#include "table.h"

enum {
	BUSY = CLIENTS - 1,  /* at work at once; the last one stops in act 5 */
	LIVES = CLIENTS + 2, /* and comes back twice in act 6 */
	ROUNDS = 10,         /* of what is made to happen */
	HOT = 2,             /* keys of act 2 */
	REST = 500,          /* us */
};
enum kind { GET, PUT, INSERT, DELETE };

static struct worker worker[CLIENTS];
static struct own own[CLIENTS];
static struct op done[LIVES][OPS + 3 * ROUNDS + 4 * SLOTS];
static struct history history[LIVES];
static int life = BUSY; /* whose history is that of the last client */

/* ---- operations -------------------------------------------------------- */

static struct op *begin(const struct worker *w, uint64_t key)
{
	int i = w->id == CLIENTS ? life : (int)w->id - 1;
	struct op *op = &done[i][history[i].n++];

	*op = (struct op){ .key = key,
			   .found = ANY,
			   .after = (uint64_t)(i + 1) << 32 |
				    (unsigned)history[i].n,
			   .start = tick(),
			   .end = NEVER };
	return op;
}

/*
 * DOC: operation. Finds the slot, and changes it if it is still what was found;
 * else all over again. If there is no slot for a new key, nothing changes.
 */
static const struct op *operate(struct worker *w, enum kind kind, uint64_t key)
{
	struct op *op = begin(w, key);
	uint64_t new = op->after, found;

	for (;;) {
		unsigned s = find(w, key);
		found = s == SLOTS ? 0 : content(&w->own->seen);
		op->after = kind == DELETE ? 0 : new;
		if (kind == GET || (kind == INSERT && found))
			op->after = found;
		if (op->after == found)
			break;
		if (s == SLOTS) {
			op->after = FULL;
			break;
		}
		w->own->mine.record = record_of(key, op->after);
		if (change(w, s, w->own->before))
			break;
	}
	op->found = found;
	op->end = tick();
	return op;
}

/* DOC: judge. Dies if what the clients found cannot have happened. */
static void judge(int act)
{
	uint64_t value = 0;
	const struct op *op = misfit_of_any(history, LIVES, &value);

	keep_history(history, LIVES, SLOTS);
	if (op) {
		note("key %d holds %#llx, and somebody found %#llx",
		     (int)op->key, (unsigned long long)value,
		     (unsigned long long)op->found);
		die("act %d: no order explains what was found", act);
	}
	op = false_full(history, LIVES, SLOTS);
	if (op)
		die("act %d: no slot for key %d, and the table is not full",
		    act, (int)op->key);
}

/* ---- acts -------------------------------------------------------------- */

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

/* Three clients at once: one here, the others in threads. */
static void together(void *(*act)(void *))
{
	pthread_t t[BUSY];

	for (int i = 1; i < BUSY; i++) {
		int rc = pthread_create(&t[i], NULL, act, &worker[i]);
		if (rc)
			die_err(rc, "pthread_create");
	}
	act(&worker[0]);
	for (int i = 1; i < BUSY; i++) {
		int rc = pthread_join(t[i], NULL);
		if (rc)
			die_err(rc, "pthread_join");
	}
}

static int trips(enum kind kind, uint64_t key)
{
	int before = worker[0].trips;

	operate(&worker[0], kind, key);
	return worker[0].trips - before;
}

/* Nobody else is at work, and each key is in the first slot for it. */
static void act_1(void)
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
static void *act_2(void *arg)
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
static void *act_3(void *arg)
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

static void act_4(void)
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

/* The last client takes the slot of key 1 for a PUT, and does no more. Returns what
 * it wants to PUT. */
static uint64_t take_and_stop(void)
{
	struct worker *w = &worker[BUSY];
	uint64_t value = begin(w, 1)->after;
	unsigned s = find(w, 1);

	w->own->mine.record = record_of(1, value);
	if (!take(w, s, w->own->before, odd_version(w, w->own->before)))
		die("client 4 does not get the slot");
	return value;
}

static uint64_t stopped; /* what client 4 wanted to PUT */
static _Atomic int found_stopped;

static void *act_5(void *arg)
{
	found_stopped += operate(arg, PUT, 1)->found == stopped;
	return NULL;
}

/* DOC: stopped. Client 4 takes the slot of key 1, and then does no more. The others
 * PUT the same key. Was client 4 dead? It goes on, as if nothing had happened. */
static void client_4_stops(void)
{
	struct worker *w = &worker[BUSY];

	operate(&worker[0], PUT, 1);
	operate(w, PUT, 9); /* one of its logs is for another slot */
	stopped = take_and_stop();
	together(act_5);
	struct ibv_wc wc =
		put(w, (unsigned)w->own->mine.slot, w->own->mine.version);
	operate(&worker[0], GET, 1);
	judge(5);
	if (wc.status == IBV_WC_SUCCESS)
		die("act 5: a late WRITE of client 4 was executed");
	note("the late WRITE of client 4: %s", ibv_wc_status_str(wc.status));
	if (found_stopped != 1)
		die("act 5: the PUT of client 4 is lost");
}

static const struct ibv_qp_cap cap = {
	.max_send_wr = 3, /* lists of three */
	.max_recv_wr = 1,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

static void connect_one(struct worker *w)
{
	if (w->id == CLIENTS) { /* in vain, in act 5: 4 tries of 34 ms */
		w->ep.timeout = 13;
		w->ep.retry_cnt = 3;
	}
	send_info(&w->ep, NULL);
	w->server = recv_info(&w->ep, sizeof(struct shared));
	qp_to_init(&w->ep, 0);
	qp_to_rtr(&w->ep, &w->server);
	qp_to_rts(&w->ep);
}

static void connect_all(const struct options *opt)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct worker *w = &worker[i];

		w->id = w->seed = i + 1;
		w->own = &own[i];
		w->ep = i == 0 ? ep_open(opt, cap)
			       : ep_second(&worker[0].ep, cap);
		if (i == 0)
			tcp_connect(&w->ep);
		w->mr = i > 0 ? worker[0].mr
			      : ibv_reg_mr(w->ep.pd, own, sizeof own,
					   IBV_ACCESS_LOCAL_WRITE);
		if (!w->mr)
			die_err(errno, "ibv_reg_mr");
		connect_one(w);
	}
	for (int i = 0; i < LIVES; i++)
		history[i].op = done[i];
	barrier(&worker[0].ep);
}

/* The last client, as if it had been started again: it knows its number, and no more. */
static void start_again(void)
{
	struct worker *w = &worker[BUSY];

	tcp_send(&w->ep, "N", 1, "connecting again");
	ep_close(&w->ep);
	w->ep = ep_second(&worker[0].ep, cap);
	connect_one(w);
	life++;
	w->turn = 0;
	come_back(w);
}

/* It was cut off in act 5. Then it stops once more, and is back before somebody waits. */
static void client_4_comes_back(void)
{
	start_again();
	stopped = take_and_stop();
	start_again();
	if (operate(&worker[0], GET, 1)->found != stopped)
		die("act 6: the PUT of client 4 is lost");
	operate(&worker[BUSY], PUT, 1);
	judge(6);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);

	connect_all(&opt);
	act_1();
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
	together(act_2);
	judge(2);
	say("act 2: 3 clients, %d operations: one order explains all of them",
	    BUSY * (ROUNDS + OPS) + 3);
	barrier(&worker[0].ep);

	together(act_3);
	say("act 3: 3 clients INSERT one key: one of them did, %d times",
	    ROUNDS);
	barrier(&worker[0].ep);

	act_4();
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
