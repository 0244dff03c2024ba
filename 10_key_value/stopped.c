/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/stopped.c - client 4 stops in the middle of a PUT, and comes back.
 */
#include "stopped.h"
#include "operations.h"

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

static void *put_the_same(void *arg)
{
	found_stopped += operate(arg, PUT, 1)->found == stopped;
	return NULL;
}

/* DOC: stopped. Client 4 takes the slot of key 1, and then does no more. The others
 * PUT the same key. Was client 4 dead? It goes on, as if nothing had happened. */
void client_4_stops(void)
{
	struct worker *w = &worker[BUSY];

	operate(&worker[0], PUT, 1);
	operate(w, PUT, 9); /* one of its logs is for another slot */
	stopped = take_and_stop();
	together(put_the_same);
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

/* The last client, as if it had been started again: it knows its number, and no more. */
static void start_again(void)
{
	struct worker *w = &worker[BUSY];

	tcp_send(&w->ep, "N", 1, "connecting again");
	connect_again(w);
	life++;
	w->turn = 0;
	come_back(w);
}

void client_4_comes_back(void)
{
	start_again();
	stopped = take_and_stop();
	start_again();
	if (operate(&worker[0], GET, 1)->found != stopped)
		die("act 6: the PUT of client 4 is lost");
	operate(&worker[BUSY], PUT, 1);
	judge(6);
}
