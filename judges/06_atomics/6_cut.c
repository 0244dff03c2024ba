/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/6_cut.c - a stream of numbers, and a wire that is cut.
 *
 * before: the sum is too large: a number was added twice
 * hint1: add() has failed. Which two things may have happened to its
 * hint1: request? In which of the two is it right to repeat it?
 * hint1.zh: add() 失败了。它的请求可能经历了哪两种情况？哪一种情况下应该重做？
 * hint2: The completion does not tell, but the word does. What must
 * hint2: deliver() know to understand it?
 * hint2.zh: CQE 说明不了，那个字可以说明。要看懂它，deliver() 必须记住什么？
 */
#include <stdlib.h>
#include <unistd.h>

#include "6_cut.h"
#include "wire.h"

enum { NUMBERS = 40, CUTS = 8, ROW = 3 };

static struct duo duo;
static const struct ibv_qp_cap cap = {
	.max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1
};
static uint64_t word, old, sum; /* the peer's; ours; what word is to be */
static struct ibv_mr *word_mr, *old_mr;
static int in_doubt[2], at_end[2]; /* how often: not executed, executed */
static unsigned seed;
static int until_cut;             /* so many requests */
static int adds;                  /* requests of this deliver() */
static char cut_net[IF_NAMESIZE]; /* the interface whose wire is cut */
static bool broken;               /* the queue pair */
static int row;                   /* so often a number was not executed */
static bool row_met;              /* ROW times, and in the end it was */
static bool executed;             /* one in doubt, in this deliver() */
static bool behind_it;            /* and a later one was not */

/* From now on what one of the two sides sends is lost: requests, or answers (after ROW
 * times requests). */
static void cut(void)
{
	bool requests = row > 0 ? row < ROW : rand_r(&seed) % 2;
	const struct ep *side = requests ? &duo.you : &duo.peer;

	if (!wire_of(cut_net, side->ctx->device->name, 1, side->gid_index))
		die("this exercise cuts a wire, and this wire is not the "
		    "lab's: LAB=vm has one");
	if (!qdisc_lose(cut_net))
		die("the wire cannot be cut (has this kernel sch_netem?)");
}

/* Does the request succeed? */
static bool done(struct ibv_send_wr wr)
{
	wr.send_flags |= IBV_SEND_SIGNALED;
	post(&duo.you, &wr);
	return wait_wc(&duo.you).status == IBV_WC_SUCCESS;
}

bool add(uint32_t number)
{
	struct ibv_sge sge = piece(&old, sizeof old, old_mr);
	struct ibv_send_wr wr =
		request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, &word, word_mr);
	uint64_t before = word;

	if (broken)
		wrong("add(): the queue pair is in the error state: "
		      "reconnect() first");
	wr.wr.atomic.compare_add = number;
	adds++;
	if (until_cut-- == 0)
		cut();
	broken = !done(wr);
	row_met |= broken && word != before && row == ROW;
	row = broken && word == before ? row + 1 : 0;
	if (broken) {
		qdisc_delete(cut_net);
		in_doubt[word != before]++;
		at_end[word != before] += before + number == sum;
		if (word == before)
			behind_it |= executed;
		else if (!executed && !behind_it)
			until_cut = rand_r(&seed) % 3; /* once more */
		executed |= word != before;
		if (row > 0 && row <= ROW && in_doubt[0] > 1 && in_doubt[1])
			until_cut = 0; /* its repetition fails, too */
	}
	return !broken;
}

/* Ends of a connection that gives up soon: after two tries of 1 ms. */
static void connect_anew(void)
{
	struct ep *ends[] = { &duo.you, &duo.peer };

	for (int i = 0; i < 2; i++) {
		ends[i]->second = true; /* the device stays open */
		ep_close(ends[i]);
		*ends[i] = ep_second(ends[i], cap);
		ends[i]->timeout = 8;
		ends[i]->retry_cnt = 1;
	}
	duo_connect(&duo, 0, ALL_REMOTE);
}

uint64_t read_word(void)
{
	struct ibv_sge sge = piece(&old, sizeof old, old_mr);

	if (broken)
		wrong("read_word(): the queue pair is in the error state: "
		      "reconnect() first");
	/* Late on a busy machine, not lost: a READ may be repeated. */
	while (!done(request(IBV_WR_RDMA_READ, &sge, &word, word_mr)))
		connect_anew();
	return old;
}

void reconnect(void)
{
	connect_anew();
	broken = false;
}

void judge(void)
{
	int uncut = NUMBERS; /* adds of a deliver() that nothing disturbs */

	seed = (unsigned)getpid();
	duo_open(&duo, cap);
	word_mr = open_memory(&duo.peer, &word, sizeof word);
	old_mr = open_memory(&duo.you, &old, sizeof old);
	/* ROW must be met, and behind one that was executed one that was not. */
	while (in_doubt[0] + in_doubt[1] < CUTS || !at_end[0] || !at_end[1] ||
	       !row_met || !behind_it) {
		uint32_t numbers[NUMBERS];

		word = sum = 0;
		for (int i = 0; i < NUMBERS; i++)
			sum += numbers[i] = 1 + 2 * (unsigned)rand_r(&seed);
		broken = executed = false;
		/* First before the last number, until it was executed, and was not:
		 * nothing comes behind it. Then something does, also behind a
		 * second cut. */
		bool last = !at_end[0] || !at_end[1];
		until_cut = last ? uncut - 1 : rand_r(&seed) % (uncut - 5);
		adds = 0;
		connect_anew();
		deliver(numbers, NUMBERS);
		if (broken)
			wrong("deliver() returns with a number in doubt");
		if (word != sum)
			wrong("the sum is too %s",
			      word > sum ? "large: a number was added twice"
					 : "small: a number is missing");
		if (in_doubt[0] + in_doubt[1] == 0)
			uncut = adds; /* it adds some at once */
	}
	note("in doubt: %d not executed, %d executed", in_doubt[0],
	     in_doubt[1]);
}
