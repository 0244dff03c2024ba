/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/5_choose.c - three pairs of requests, at a bad moment.
 *
 * before: publish is UNANSWERED: choose one, then run it
 * hint1: What does the second request need from the first: a place behind
 * hint1: it in the queue, or its answer? And can a fence of this queue
 * hint1: pair see the first?
 * hint2: The matrix of the lesson says which pairs need a fence. A fence
 * hint2: waits for all earlier READs of its queue, also for those that do
 * hint2: not matter.
 */
#include "5_choose.h"
#include "wire.h"

/* ms: late answers; lost answers; the wait for what cannot come. */
enum { DELAY = 100, LOST = 60000, NEVER = 2000, TRIES = 5, OLD = 1, NEW };

static const char *const names[] = { "AT_ONCE", "FENCE_FIRST", "FENCE_SECOND",
				     "COMPLETION" };
static struct {
	uint64_t got, word; /* for a READ, for a WRITE */
} mine;
static struct {
	uint64_t data, flag, record, copy;
} theirs;
static struct ibv_sge got, word;
static struct ibv_mr *to;
static struct duo d, second; /* two connections */

/* Posts both, the second one at ep. A fence on a READ is left out: it would wait
 * for nothing here, and rxe would never repeat that READ (docs/rxe.md). */
static void post_both(struct ibv_send_wr first, struct ibv_send_wr then,
		      struct ep *ep, int how)
{
	if (how == FENCE_FIRST && first.opcode != IBV_WR_RDMA_READ)
		first.send_flags = IBV_SEND_FENCE;
	if (how == FENCE_SECOND)
		then.send_flags = IBV_SEND_FENCE;
	then.send_flags |= IBV_SEND_SIGNALED;
	if (how == COMPLETION)
		execute(&d.you, first);
	else
		post(&d.you, &first);
	post(ep, &then);
}

/* Is the flag there before the answer of a READ of something else? */
static void try_publish(int how)
{
	struct ibv_send_wr read, data, flag;
	bool early = false;

	read = request(IBV_WR_RDMA_READ, &got, &theirs.record, to);
	data = request(IBV_WR_RDMA_WRITE, &word, &theirs.data, to);
	flag = request(IBV_WR_RDMA_WRITE, &word, &theirs.flag, to);
	about("publish, %s", names[how]);
	mine.word = theirs.record = NEW;
	for (int i = 0; i < TRIES && !early; i++) {
		theirs.flag = mine.got = OLD;
		post(&d.you, &read);
		post_both(data, flag, &d.you, how);
		for (double since = now_ms(); theirs.flag != NEW;)
			keep_waiting(&d.you, since, "the flag");
		early = mine.got == OLD;
		expect_completion(&d.you, "the flag");
	}
	if (!early)
		wrong("right, but the flag waited for a READ of something "
		      "else");
}

/* The READ's answer is late, and the WRITE is on another queue pair. */
static void try_move(int how)
{
	about("move, %s", names[how]);
	theirs.record = NEW;
	mine.got = OLD;
	post_both(request(IBV_WR_RDMA_READ, &got, &theirs.record, to),
		  request(IBV_WR_RDMA_WRITE, &got, &theirs.copy, to),
		  &second.you, how);
	expect_completion(&second.you, "the WRITE");
	if (theirs.copy != NEW)
		wrong("the WRITE did not wait for the READ's answer");
}

/* The READ's answer is lost, so the READ is repeated. */
static void try_exchange(int how)
{
	about("exchange, %s", names[how]);
	if (how == COMPLETION)
		wrong("right, but the WRITE waited for your CPU");
	theirs.record = OLD;
	mine.word = NEW;
	late_answers(&d, LOST);
	post_both(request(IBV_WR_RDMA_READ, &got, &theirs.record, to),
		  request(IBV_WR_RDMA_WRITE, &word, &theirs.record, to), &d.you,
		  how);
	/* The WRITE is executed now, or held back until the READ is done. */
	double end = now_ms() + (how == FENCE_SECOND ? 100 : NEVER);
	while (theirs.record != NEW && now_ms() < end)
		;
	wire_free(); /* and what is late is thrown away */
	expect_completion(&d.you, "the WRITE");
	if (mine.got != OLD)
		wrong("an answer was lost, and the READ brought the new "
		      "record");
}

void judge(void)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 4 };

	duo_open(&d, cap);
	must_choose(publish, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	must_choose(exchange, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	must_choose(move, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	second.you = ep_second(&d.you, cap);
	second.peer = ep_second(&d.peer, cap);
	d.you.retry_cnt = 7; /* for a busy machine */
	duo_connect(&d, 0, ALL_REMOTE);
	duo_connect(&second, 0, ALL_REMOTE);
	struct ibv_mr *from = open_memory(&d.you, &mine, sizeof mine);
	got = piece(&mine.got, 8, from);
	word = piece(&mine.word, 8, from);
	to = open_memory(&d.peer, &theirs, sizeof theirs);
	late_answers(&d, DELAY);
	try_publish(publish);
	try_move(move);
	try_exchange(exchange);
}
