/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/operations.c - GET, PUT, INSERT and DELETE, and the judge.
 *
 * Each client writes down what its operations found and left. Were they right? Each value
 * may be right in itself, and yet be old, or lost. So the question is: is there any
 * order, one operation after the other, in which all of that can have happened?
 * (history.c)
 */
#include <errno.h>
#include <pthread.h>

#include "operations.h"

struct worker worker[CLIENTS];
int life = BUSY;
static struct own own[CLIENTS];
static struct op done[LIVES][OPS + 3 * ROUNDS + 4 * SLOTS];
static struct history history[LIVES];

static const struct ibv_qp_cap cap = {
	.max_send_wr = 3, /* lists of three */
};

static void connect_one(struct worker *w)
{
	send_info(&w->ep, NULL);
	w->server = recv_info(&w->ep, sizeof(struct shared));
	qp_to_init(&w->ep, 0);
	qp_to_rtr(&w->ep, &w->server);
	qp_to_rts(&w->ep);
}

void connect_all(const struct options *opt)
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

void connect_again(struct worker *w)
{
	ep_close(&w->ep);
	w->ep = ep_second(&worker[0].ep, cap);
	connect_one(w);
}

void together(void *(*act)(void *))
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

struct op *begin(const struct worker *w, uint64_t key)
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
const struct op *operate(struct worker *w, enum kind kind, uint64_t key)
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
void judge(int act)
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
