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
	BUSY = CLIENTS - 1, /* at work at once; the last one stops in act 5 */
	HOT = 2,            /* keys of act 2 */
	ROUNDS = 10,        /* of act 3 */
};
enum kind { GET, PUT, INSERT, DELETE };

static struct worker worker[CLIENTS];
static struct own own[CLIENTS];
static struct op done[CLIENTS][PARTS * OPS + 2 * ROUNDS + 4 * SLOTS];
static struct history history[CLIENTS];

/* ---- operations -------------------------------------------------------- */

static struct op *begin(const struct worker *w, uint64_t key)
{
	struct history *h = &history[w->id - 1];
	struct op *op = &done[w->id - 1][h->n++];

	*op = (struct op){ key, ANY, (uint64_t)w->id << 32 | (unsigned)h->n,
			   tick(), NEVER };
	return op;
}

/*
 * DOC: operation. Finds the slot, and changes it if it is still what was found;
 * else all over again. Returns what the key held before, 0: nothing. If there
 * is no slot for a new key, the table is full, and nothing changes.
 */
static uint64_t operate(struct worker *w, enum kind kind, uint64_t key)
{
	struct op *op = begin(w, key);
	uint64_t new = op->after, found;

	for (;;) {
		unsigned s = find(w, key);
		found = s == SLOTS ? 0 : content(&w->own->seen);
		op->after = kind == DELETE ? 0 : new;
		if (kind == GET || (kind == INSERT && found) || s == SLOTS)
			op->after = found;
		if (op->after == found)
			break;
		w->own->mine = record_of(key, op->after);
		if (change(w, s, w->own->before))
			break;
	}
	op->found = found;
	op->end = tick();
	return found;
}

/* DOC: judge. Dies if what the clients found cannot have happened. */
static void judge(int act)
{
	uint64_t value = 0;
	const struct op *op = misfit_of_any(history, CLIENTS, &value);

	for (int i = 0; i < CLIENTS; i++)
		note("client %d: %d operations, %d round trips; looks again "
		     "%d, swaps lost %d",
		     i + 1, history[i].n, worker[i].trips, worker[i].rejected,
		     worker[i].lost);
	keep_history(history, CLIENTS);
	if (!op)
		return;
	note("key %d holds %#llx, and somebody found %#llx", (int)op->key,
	     (unsigned long long)value, (unsigned long long)op->found);
	die("act %d: no order explains what was found", act);
}

/* ---- acts -------------------------------------------------------------- */

static pthread_barrier_t all_here;

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
	for (int i = 1; i < BUSY; i++)
		pthread_join(t[i], NULL);
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

/* Keys that want the same slot. */
static void *act_2(void *arg)
{
	static const enum kind kinds[] = { GET, GET, GET,    GET,
					   PUT, PUT, INSERT, DELETE };
	struct worker *w = arg;

	w->rests = true;
	for (int i = 0; i < OPS; i++) {
		uint64_t key = 1 + SLOTS * (unsigned)(rand_r(&w->seed) % HOT);

		operate(w, kinds[rand_r(&w->seed) % 8], key);
	}
	w->rests = false;
	return NULL;
}

/* All INSERT one key at once. Then client 1 deletes it. */
static void *act_3(void *arg)
{
	static _Atomic int inserted;
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		inserted = 0;
		pthread_barrier_wait(&all_here);
		inserted += operate(w, INSERT, 5) == 0;
		pthread_barrier_wait(&all_here);
		if (inserted != 1)
			die("act 3: %d clients inserted the key", inserted);
		if (w->id == 1)
			operate(w, DELETE, 5);
		pthread_barrier_wait(&all_here);
	}
	return NULL;
}

static void act_4(void)
{
	uint64_t key = 100;

	for (; key < 100 + SLOTS; key++) {
		operate(&worker[0], PUT, key);
		if (operate(&worker[0], GET, key) == 0)
			break;
	}
	if (key == 100 + SLOTS)
		die("act 4: more keys than slots");
	operate(&worker[0], DELETE, 100);
	operate(&worker[0], PUT, key);
	if (operate(&worker[0], GET, key) != 0)
		die("act 4: a key in the slot of a deleted key");
}

static _Atomic int found_late; /* what client 4 has PUT */

static void *act_5(void *arg)
{
	found_late += operate(arg, PUT, 1) == ((uint64_t)CLIENTS << 32 | 1);
	return NULL;
}

/* DOC: stopped. Client 4 takes the slot of key 1, and then does no more. The others
 * PUT the same key. Was client 4 dead? It goes on, as if nothing had happened. */
static void client_4_stops(void)
{
	struct worker *w = &worker[BUSY];
	struct op *op = begin(w, 1);
	unsigned s = find(w, 1);
	uint64_t from = w->own->before, odd = odd_version(w, from);

	w->own->mine = record_of(1, op->after);
	if (!take(w, s, from, odd))
		die("act 5: client 4 does not get the slot");
	together(act_5);
	struct ibv_wc wc = put(w, s, odd);
	operate(&worker[0], GET, 1);
	judge(5);
	if (wc.status == IBV_WC_SUCCESS)
		die("act 5: a late WRITE of client 4 was executed");
	note("the late WRITE of client 4: %s", ibv_wc_status_str(wc.status));
	if (found_late != 1)
		die("act 5: the PUT of client 4 is lost");
}

static void connect_all(const struct options *opt)
{
	struct ibv_qp_cap cap = { 3, 1, 1, 1, 0 }; /* lists of three */

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct worker *w = &worker[i];

		w->id = w->seed = i + 1;
		w->own = &own[i];
		history[i].op = done[i];
		w->ep = i == 0 ? ep_open(opt, cap)
			       : ep_second(&worker[0].ep, cap);
		if (i == 0)
			tcp_connect(&w->ep);
		w->mr = i > 0 ? worker[0].mr
			      : ibv_reg_mr(w->ep.pd, own, sizeof own,
					   IBV_ACCESS_LOCAL_WRITE);
		if (!w->mr)
			die_err(errno, "ibv_reg_mr");
		if (i == BUSY) { /* in vain, in act 5: 4 tries of 34 ms */
			w->ep.timeout = 13;
			w->ep.retry_cnt = 3;
		}
		send_info(&w->ep, NULL);
		w->server = recv_info(&w->ep, sizeof(struct shared));
		qp_to_init(&w->ep, 0);
		qp_to_rtr(&w->ep, &w->server);
		qp_to_rts(&w->ep);
	}
	barrier(&worker[0].ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);

	connect_all(&opt);
	act_1();
	barrier(&worker[0].ep);

	for (int part = 0; part < PARTS; part++) {
		together(act_2);
		barrier(&worker[0].ep);
	}
	judge(2);
	say("act 2: 3 clients, %d operations: one order explains all of them",
	    BUSY * PARTS * OPS);

	pthread_barrier_init(&all_here, NULL, BUSY);
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
	say("PASS all that was found is explained by one order for each key");

	int rc = ibv_dereg_mr(worker[0].mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	for (int i = BUSY; i >= 0; i--)
		ep_close(&worker[i].ep);
	return 0;
}
