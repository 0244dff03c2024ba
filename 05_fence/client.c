/* SPDX-License-Identifier: MIT */
/*
 * 05_fence/client.c - what a fence holds back, and what it does not.
 *
 * IBV_SEND_FENCE on a request means: start this request, and the requests after
 * it, only when all earlier READs and atomics of this send queue are done. The
 * fence does not wait for a WRITE or a SEND, nor for another send queue.
 */
#include <endian.h>
#include <errno.h>

#include "common.h"
#include "lesson.h"
#include "post.h"
#include "steps.h"

/* DOC: read-then-write. The READ fetches source into buf, the WRITE writes buf to
 * copy. A WRITE that does not wait takes its bytes before the answer has come. */
static void read_then_write(struct ep *ep, const struct step *list, int n)
{
	for (int i = 0; i < ROUNDS; i++) {
		barrier(ep);
		post_list(ep, list, n);
		expect_completion(ep, "act 1");
		barrier(ep);
	}
}

static bool measured; /* act 2: could it be? */

/* DOC: act-2. Does the second request wait for the first? If so, each try takes
 * at least twice DELAY. If not, one quick try shows it. Slow tries show nothing:
 * the machine may be busy. */
static void count_trips(struct ep *ep)
{
	const struct pair {
		const char *name;
		struct step list[2];
		int trips;
	} pairs[] = {
		{ .name = "WRITE, WRITE",
		  .list = { write_copy, write_copy },
		  .trips = 1 },
		{ .name = "WRITE, WRITE|F",
		  .list = { write_copy, fenced(write_copy) },
		  .trips = 1 },
		{ .name = "READ, WRITE",
		  .list = { read_source, write_copy },
		  .trips = 1 },
		{ .name = "READ, WRITE|F",
		  .list = { read_source, fenced(write_copy) },
		  .trips = 2 },
		{ .name = "READ, SEND|F",
		  .list = { read_source, fenced(send_nothing) },
		  .trips = 2 },
		{ .name = "ATOMIC, WRITE|F",
		  .list = { add_one, fenced(write_copy) },
		  .trips = 2 },
	};
	double two_trips = 2 * DELAY;

	for (const struct pair *p = pairs; p < pairs + PAIRS; p++) {
		int tries = p->trips == 2 ? TRIES : MAX_TRIES;
		double least = 1e9;

		while (tries-- > 0 && least >= two_trips) {
			double start = now_ms();
			post_list(ep, p->list, 2);
			expect_completion(ep, p->name);
			double took = now_ms() - start;
			least = took < least ? took : least;
		}
		note("act 2: %s: %.1f ms", p->name, least);
		if (least < DELAY) {
			say("act 2: not measured, the wire is not slow");
			return;
		}
		if (p == pairs && least >= two_trips)
			two_trips = 1.25 * least; /* our end is slow, too */
		if (p->trips != (least < two_trips ? 1 : 2))
			die("act 2: trips of %s: not %d", p->name, p->trips);
		say("act 2: round trips of %s: %d", p->name, p->trips);
	}
	measured = true;
}

/* DOC: two-qps. The same two requests, each on a queue pair of its own. */
static void on_two_qps(struct ep *ep, struct ep *second, bool wait)
{
	for (int i = 0; i < ROUNDS; i++) {
		barrier(ep);
		post_list(ep, &read_source, 1);
		if (wait)
			expect_completion(ep, "act 3, READ");
		post_list(second, (struct step[]){ fenced(write_copy) }, 1);
		expect_completion(second, "act 3, WRITE");
		if (!wait)
			expect_completion(ep, "act 3, READ");
		barrier(ep);
	}
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { .max_send_wr = 4 };
	struct ep ep = ep_open(&opt, cap);
	struct ep second = ep_second(&ep, cap); /* acts 3 and 4 */

	tcp_connect(&ep);
	second.sock = ep.sock;
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	send_info(&second, NULL);
	server = recv_info(&ep, sizeof(struct shared));
	struct qp_info server_second =
		recv_info(&second, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_init(&second, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rtr(&second, &server_second);
	second.timeout = 15; /* act 4: 7 tries of 134 ms */
	qp_to_rts(&ep);
	qp_to_rts(&second);
	barrier(&ep);
	read_then_write(&ep, (struct step[]){ read_source, write_copy }, 2);
	read_then_write(&ep, (struct step[]){ read_source, fenced(write_copy) },
			2);
	read_then_write(
		&ep,
		(struct step[]){ read_source, fenced(write_word), write_copy },
		3);
	count_trips(&ep);
	on_two_qps(&ep, &second, false);
	on_two_qps(&ep, &second, true);

	/* DOC: act-4. READ a word, WRITE a new one over it. The answers are lost. */
	own.new = htobe64(NEW);
	barrier(&ep);
	barrier(&ep); /* the wire is cut */
	post_list(&second,
		  (struct step[]){ read_x, write_x, read_y, fenced(write_y) },
		  4);
	expect_completion(&second, "act 4");
	if (own.x != htobe64(NEW) && own.x != htobe64(OLD))
		die("act 4: READ x, WRITE x: the READ returned neither");
	say("act 4: READ x, WRITE x: the READ returned the %s x",
	    own.x == htobe64(NEW) ? "new" : "old");
	if (own.y != htobe64(OLD))
		die("act 4: READ y, WRITE y|F: the READ returned the new y");
	say("act 4: READ y, WRITE y|F: the READ returned the old y");

	barrier(&ep);
	say("PASS every request completed%s",
	    measured ? ", and the times fit" : "");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&second);
	ep_close(&ep);
	return 0;
}
