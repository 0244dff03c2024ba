/* SPDX-License-Identifier: MIT */
/*
 * 05_fence/client.c - what a fence holds back, and what it does not.
 *
 * IBV_SEND_FENCE on a request means: start this request, and the requests behind
 * it, only when all earlier READs and atomics of this send queue are done. The
 * fence does not wait for a WRITE or a SEND, nor for another send queue.
 */
#include <endian.h>
#include <errno.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

static struct {
	char buf[LEN];
	uint64_t word, old, x, y, new;
} own;
static struct ibv_mr *mr;
static struct qp_info server;

/* One request: it moves bytes between our memory and the server's. */
struct step {
	enum ibv_wr_opcode opcode;
	unsigned flags;
	const void *at; /* our bytes */
	uint32_t len;
	size_t offset; /* the server's bytes */
};

/* Posts up to four steps as one list. The last step is signaled. */
static void post_list(struct ep *ep, const struct step *s, int n)
{
	struct ibv_sge sge[4];
	struct ibv_send_wr wr[4];

	for (int i = 0; i < n; i++, s++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)s->at, s->len, mr->lkey };
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.opcode = s->opcode,
			.send_flags = s->flags,
			.sg_list = &sge[i],
			.num_sge = s->len > 0, /* the SEND is empty */
			.wr.rdma = { server.addr + s->offset, server.rkey },
		};
		if (s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr[i].wr.atomic.remote_addr = server.addr + s->offset;
			wr[i].wr.atomic.compare_add = 1;
			wr[i].wr.atomic.rkey = server.rkey;
		}
	}
	wr[n - 1].send_flags |= IBV_SEND_SIGNALED;
	post(ep, wr);
}

#define F IBV_SEND_FENCE
static const struct step
	read = { IBV_WR_RDMA_READ, 0, own.buf, LEN, AT(source) },
	write = { IBV_WR_RDMA_WRITE, 0, own.buf, LEN, AT(copy) },
	write_f = { IBV_WR_RDMA_WRITE, F, own.buf, LEN, AT(copy) },
	other_f = { IBV_WR_RDMA_WRITE, F, &own.word, 8, AT(counter) },
	send_f = { IBV_WR_SEND, F, NULL, 0, 0 },
	add = { IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &own.old, 8, AT(counter) },
	read_x = { IBV_WR_RDMA_READ, 0, &own.x, 8, AT(x) },
	read_y = { IBV_WR_RDMA_READ, 0, &own.y, 8, AT(y) },
	write_x = { IBV_WR_RDMA_WRITE, 0, &own.new, 8, AT(x) },
	write_y_f = { IBV_WR_RDMA_WRITE, F, &own.new, 8, AT(y) };

/* DOC: read-then-write. The READ fetches source into buf, the WRITE writes buf to
 * copy. A WRITE that does not wait takes its bytes before the answer has come. */
static void act_1(struct ep *ep, const struct step *list, int n)
{
	for (int i = 0; i < ROUNDS; i++) {
		barrier(ep);
		post_list(ep, list, n);
		expect_completion(ep, "act 1");
		barrier(ep);
	}
}

/* DOC: act-2. Does the second request wait for the first? If so, each try takes
 * at least twice DELAY. If not, one quick try shows it. Slow tries show nothing:
 * the machine may be busy. */
static void act_2(struct ep *ep)
{
	const struct pair {
		const char *name;
		struct step list[2];
		int trips;
	} pairs[] = {
		{ "WRITE, WRITE", { write, write }, 1 },
		{ "WRITE, WRITE|F", { write, write_f }, 1 },
		{ "READ, WRITE", { read, write }, 1 },
		{ "READ, WRITE|F", { read, write_f }, 2 },
		{ "READ, SEND|F", { read, send_f }, 2 },
		{ "ATOMIC, WRITE|F", { add, write_f }, 2 },
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
}

/* DOC: two-qps. The same two requests, each on a queue pair of its own. */
static void act_3(struct ep *ep, struct ep *other, bool wait)
{
	for (int i = 0; i < ROUNDS; i++) {
		barrier(ep);
		post_list(ep, &read, 1);
		if (wait)
			expect_completion(ep, "act 3, READ");
		post_list(other, &write_f, 1);
		expect_completion(other, "act 3, WRITE");
		if (!wait)
			expect_completion(ep, "act 3, READ");
		barrier(ep);
	}
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 4,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);
	struct ep other = ep_second(&ep, cap); /* acts 3 and 4 */

	tcp_connect(&ep);
	other.sock = ep.sock;
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	send_info(&other, NULL);
	server = recv_info(&ep, sizeof(struct shared));
	struct qp_info server_other = recv_info(&other, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_init(&other, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rtr(&other, &server_other);
	other.timeout = 15; /* act 4: 7 tries of 134 ms */
	qp_to_rts(&ep);
	qp_to_rts(&other);
	barrier(&ep);
	act_1(&ep, (struct step[]){ read, write }, 2);
	act_1(&ep, (struct step[]){ read, write_f }, 2);
	act_1(&ep, (struct step[]){ read, other_f, write }, 3);
	act_2(&ep);
	act_3(&ep, &other, false);
	act_3(&ep, &other, true);

	/* DOC: act-4. READ a word, WRITE a new one over it. The answers are lost. */
	own.new = htobe64(NEW);
	barrier(&ep);
	barrier(&ep); /* the wire is cut */
	post_list(&other, (struct step[]){ read_x, write_x, read_y, write_y_f },
		  4);
	expect_completion(&other, "act 4");
	say("act 4: READ x, WRITE x: the READ returned the %s x",
	    own.x == htobe64(NEW) ? "new" : "old");
	if (own.y != htobe64(OLD))
		die("act 4: READ y, WRITE y|F: the READ returned the new y");
	say("act 4: READ y, WRITE y|F: the READ returned the old y");

	barrier(&ep);
	say("PASS every request completed, and the times fit");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&other);
	ep_close(&ep);
	return 0;
}
