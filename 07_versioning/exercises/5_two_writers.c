/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.5 - repair (hard): two writers
 * side: server
 *
 * In act 2 two threads of this server update the record. The version is
 * kept as if there were only one writer, and the lesson's client accepts torn
 * records. Repair it; each update must be made. look() takes its time, so that
 * what can go wrong between looking and doing does go wrong.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

enum { WRITERS = 2 };

static _Alignas(64) struct record record;

/* Half of the data, a rest, the other half: a reader who comes in between is
 * sure to find both, on a fast machine as on a slow one. */
static void write_data(uint64_t n)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep(PAUSE);
		record.data[i] = n;
	}
	record.sum = sum_of(record.data);
}

static _Atomic uint64_t *version(void)
{
	return (_Atomic uint64_t *)&record.version;
}

/* DOC: naive. The version is changed once, when all is written. */
static void naive_update(uint64_t n)
{
	write_data(n);
	atomic_store_explicit(version(), n, memory_order_release);
}

/* The version; and before you do anything about it, the other thread has its
 * chance to do something, too. */
static uint64_t look(void)
{
	uint64_t v = atomic_load_explicit(version(), memory_order_relaxed);

	usleep(PAUSE / 4);
	return v;
}

/* Odd while we write, even when the record is whole. Between v and v + 2 is one
 * update. */
static void seqlock_update(uint64_t n)
{
	/* TODO 7.5 */
	uint64_t v = look();

	atomic_store_explicit(version(), v + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	write_data(n);
	atomic_store_explicit(version(), v + 2, memory_order_release);
}

/* The rests differ, so that neither keeps step with the other. */
static struct writer {
	useconds_t rest;
	pthread_t thread;
	_Atomic uint64_t updates;
} writer[WRITERS] = { { .rest = PAUSE * 3 / 2 }, { .rest = 4 * PAUSE } };
static atomic_bool stop;

/* No two updates write the same number. */
static void *write_on(void *arg)
{
	struct writer *w = arg;
	uint64_t i = (uint64_t)(w - writer);

	while (!atomic_load(&stop)) {
		seqlock_update(WRITERS * (w->updates + 1) + i);
		w->updates++;
		usleep(w->rest);
	}
	return NULL;
}

/* Lets both writers update the record until the client has seen enough of it,
 * and each of them has made some updates. */
static void both_write_until_called(struct ep *ep)
{
	double deadline = now_ms() + ep->opt->wait_s * 8e3;
	struct timespec end;
	uint64_t updates = 0;

	atomic_store(version(), 0);
	atomic_store(&stop, false);
	for (int i = 0; i < WRITERS; i++) {
		writer[i].updates = 0;
		int rc = pthread_create(&writer[i].thread, NULL, write_on,
					&writer[i]);
		if (rc)
			die_err(rc, "pthread_create");
	}
	barrier(ep);
	while (!peer_waits(ep)) {
		usleep(PAUSE);
		if (now_ms() > deadline)
			die("the client does not come to an end");
	}
	deadline = now_ms() + ep->opt->wait_s * 500;
	for (int i = 0; i < WRITERS; i++) {
		while (writer[i].updates < 5) {
			usleep(PAUSE);
			if (now_ms() > deadline)
				die("writer %d does not get on", i);
		}
	}
	atomic_store(&stop, true);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ep->opt->wait_s / 2;
	for (int i = 0; i < WRITERS; i++) {
		int rc = pthread_timedjoin_np(writer[i].thread, NULL, &end);
		if (rc)
			die_err(rc, "writer %d does not come to an end", i);
		updates += writer[i].updates;
	}
	note("%d and %d updates, version %d", (int)writer[0].updates,
	     (int)writer[1].updates, (int)record.version);
	barrier(ep);
	if (record.version != 2 * updates)
		die("the version does not count the updates");
}

/* The same with one writer, and without threads. */
static void write_until_called(struct ep *ep, void (*update)(uint64_t))
{
	static uint64_t n;
	double start = now_ms();

	barrier(ep);
	while (!peer_waits(ep)) {
		update(++n);
		usleep(PAUSE);
		if (now_ms() - start > ep->opt->wait_s * 8e3)
			die("the client does not come to an end");
	}
	note("%d updates so far", (int)n);
	barrier(ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* Only to be read. That *we* write to it needs no right at all: rights
	 * are for NICs. */
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &record, sizeof record,
				       IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);
	record.sum = sum_of(record.data);

	write_until_called(&ep, naive_update);
	say("act 1: version changed after each update");
	both_write_until_called(&ep);
	say("act 2: version odd during each update");
	barrier(&ep);
	if (record.version % 2 != 0)
		die("the last update was not finished");
	for (int i = 1; i < WORDS; i++)
		if (record.data[i] != record.data[0])
			die("the record is torn, and nobody is writing");
	say("PASS I never waited for a reader, and the last update is whole");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
