/* SPDX-License-Identifier: MIT */
/*
 * 05_fence/server.c - what a fence holds back, and what it does not.
 *
 * The server opens its memory to the client and slows its own wire down, so that
 * its answers are late. After each round it checks which bytes are there.
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "common.h"
#include "lesson.h"
#include "wire.h"

static struct shared shared;

/* The client READs source and WRITEs the bytes to copy, ROUNDS times. How often
 * does copy have other bytes than source? (The client's completion, told over
 * TCP, is enough to look on soft-RoCE. On a NIC old bytes may also mean that our
 * CPU does not see the WRITE yet, and the fence is not to blame: lesson 04.) */
static int count_stale(struct ep *ep, const char *list)
{
	static int round;
	int stale = 0;

	for (int i = 0; i < ROUNDS; i++) {
		pattern(shared.source, ++round);
		memset(shared.copy, '?', LEN);
		barrier(ep);
		barrier(ep); /* the client's requests have completed */
		stale += !is_pattern(shared.copy, round);
	}
	note("%s: %d of %d stale", list, stale, ROUNDS);
	return stale;
}

static void expect_stale(struct ep *ep, const char *list)
{
	if (count_stale(ep, list) > 0)
		say("%s: stale bytes", list);
	else
		say("%s: no stale bytes this time: luck is not a guarantee",
		    list);
}

static void expect_right(struct ep *ep, const char *list)
{
	if (count_stale(ep, list) > 0)
		die("%s: stale bytes", list);
	say("%s: right, every time", list);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { .max_recv_wr = TRIES };
	struct ep ep = ep_open(&opt, cap);
	struct ep other = ep_second(&ep, cap); /* acts 3 and 4 */

	tcp_accept(&ep);
	other.sock = ep.sock;
	struct qp_info client = recv_info(&ep, 0);
	struct qp_info client_other = recv_info(&other, 0);

	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &shared, sizeof shared, access);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, (unsigned)access & ~IBV_ACCESS_LOCAL_WRITE);
	qp_to_init(&other, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	send_info(&other, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rtr(&other, &client_other);
	qp_to_rts(&ep);
	qp_to_rts(&other);
	for (int i = 0; i < TRIES; i++) { /* for the empty SENDs of act 2 */
		struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
		int rc = ibv_post_recv(ep.qp, &wr, &bad);
		if (rc)
			die_err(rc, "ibv_post_recv");
	}
	shared.x = shared.y = htobe64(OLD);
	bool slow = wire_slow(&ep, DELAY);
	if (!slow)
		note("this wire is not the lab's and stays fast, so acts 1, 3 "
		     "and 4 may show nothing: make run-05 LAB=vm shows them");
	barrier(&ep);

	/* DOC: act-1. The READ's answer is late. What does the WRITE carry? */
	expect_stale(&ep, "act 1: READ, WRITE");
	expect_right(&ep, "act 1: READ, WRITE|F");
	expect_right(&ep, "act 1: READ, another WRITE|F, WRITE");

	/* Act 2 is the client's: it measures. */

	/* DOC: act-3. READ and WRITE as in act 1, each on its own queue pair. */
	expect_stale(&ep, "act 3: READ on one QP, WRITE|F on another");
	expect_right(&ep, "act 3: WRITE posted after the READ's completion");

	/* DOC: lost-answer. READ x, WRITE x: our answers are lost, until the
	 * WRITE has changed x. */
	barrier(&ep);
	wire_cut(&ep);
	barrier(&ep);
	for (double since = now_ms(); shared.x != htobe64(NEW);)
		keep_waiting(&ep, since, "act 4: the WRITE to x");
	wire_free();
	barrier(&ep);
	say("PASS %s",
	    slow ? "the fence waits for READs and atomics of its QP, "
		   "not for WRITEs"
		 : "no WRITE behind a fence of its QP had stale bytes");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&other);
	ep_close(&ep);
	return 0;
}
