/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.4 - extend (hard): count the readers
 * side: client
 * peer: exercises/peers/4_reader_count.c
 *
 * This reader is as slow as in act 4, and must be served. The server,
 * exercises/peers/4_reader_count.c, writes to a buffer only when its word in
 * readers[] is 0 (4_reader_count.h). Until then the server waits. So far nobody
 * tells it that a buffer is being read. Use add_to_readers(), so that every read
 * is whole and of the generation that was fetched, and the writer still writes
 * between reads.
 * Some requests are late, as on any network. (That a buffer is torn shows here by
 * its content; real data does not tell.)
 */
#include <errno.h>
#include <unistd.h>

#include "4_reader_count.h"
#include "common.h"
#include "lesson.h"

static struct {
	uint64_t generation;
	uint64_t old; /* what a count was, before an addition */
	uint64_t buffer[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;

static void execute(struct ep *ep, struct ibv_send_wr wr, void *to,
		    uint32_t len, const char *what)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)to,
		.length = len,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	int rc = ibv_post_send(ep->qp, &wr, &bad);
	if (rc)
		die_err(rc, "ibv_post_send");
	struct ibv_wc wc = wait_wc(ep);
	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
}

static void fetch(struct ep *ep, void *to, uint32_t len, size_t from)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { .remote_addr = server.addr + from,
			     .rkey = server.rkey },
	};

	execute(ep, wr, to, len, "RDMA_READ");
}

static uint64_t fetch_generation(struct ep *ep)
{
	fetch(ep, &own.generation, sizeof own.generation,
	      offsetof(struct counted, shared.generation));
	return own.generation;
}

/* Adds 1 or -1 to the readers of buffer b. Every other 1 is a late one. */
static void add_to_readers(struct ep *ep, unsigned b, int by)
{
	static int counted_in;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr =
				       server.addr +
				       offsetof(struct counted, readers[b]),
			       .rkey = server.rkey,
			       .compare_add = (uint64_t)by },
	};

	if (by > 0 && ++counted_in % 2 == 0)
		usleep(PAUSE + PAUSE / 2);
	execute(ep, wr, &own.old, sizeof own.old, "FETCH_AND_ADD");
}

/* The second half of buffer b, a long rest, the first half: the other way round
 * than the writer writes, so that the two cannot go side by side. */
static void read_slowly(struct ep *ep, unsigned b)
{
	const uint32_t half = sizeof own.buffer / 2;

	fetch(ep, own.buffer + WORDS / 2, half,
	      offsetof(struct counted, shared.buffer[b][WORDS / 2]));
	usleep(5 * PAUSE);
	fetch(ep, own.buffer, half, offsetof(struct counted, shared.buffer[b]));
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct counted));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	int torn = 0, late = 0, tries = 0;
	for (int accepted = 0; accepted < SLOW_READS; tries++) {
		if (tries == 50 * SLOW_READS)
			die("gave up after %d tries", tries);
		uint64_t g = fetch_generation(&ep);
		unsigned b = g % 2;

		(void)add_to_readers; /* TODO 8.4 */
		read_slowly(&ep, b);
		accepted++;
		bool whole = true;
		for (int i = 1; i < WORDS; i++)
			whole = whole && own.buffer[i] == own.buffer[0];
		torn += !whole;
		late += whole && own.buffer[0] != g;
	}
	barrier(&ep); /* the writer may stop */
	note("accepted %d, of these torn %d, of a later generation %d; tries "
	     "%d",
	     SLOW_READS, torn, late, tries);
	if (torn != 0)
		die("a torn buffer was accepted");
	if (late != 0)
		die("a buffer of another generation was accepted");
	barrier(&ep);
	say("PASS %d slow reads, none torn", SLOW_READS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
