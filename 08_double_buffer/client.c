/* SPDX-License-Identifier: MIT */
/*
 * 08_double_buffer/client.c - read the buffer that is not being written.
 *
 * Which buffer is that? Only the server's memory says so. The index must be
 * READ, and must be here before the buffer can be READ: two round trips.
 * Meanwhile the writer goes on. After a single flip it writes into the buffer
 * that we are reading. So look at the generation again, after the buffer.
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

static struct {
	uint64_t generation;
	uint64_t buffer[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;
static int accepted, torn;

static void fetch(struct ep *ep, void *to, uint32_t len, size_t from)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)to,
		.length = len,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = server.addr + from,
			     .rkey = server.rkey },
	};

	post(ep, &wr);
	expect_completion(ep, "RDMA_READ");
}

/* DOC: fetch-generation. It is in the server's memory: READ it each time. */
static uint64_t fetch_generation(struct ep *ep)
{
	fetch(ep, &own.generation, sizeof own.generation,
	      offsetof(struct shared, generation));
	return own.generation;
}

/* Judged by the content: every word is the generation that it should be. (A whole buffer
 * of another one counts as torn, too.) */
static bool is_right(uint64_t g)
{
	for (int i = 0; i < WORDS; i++)
		if (own.buffer[i] != g)
			return false;
	return true;
}

/*
 * Reads the newest of `buffers` buffers until READS were accepted and there were
 * GENERATIONS. `may_pass`: accept if the writer has published at most that many
 * generations meanwhile; -1: accept in any case. DOC: starve. A slow reader comes
 * too late each time, so it gives up after SLOW_READS of these. If it came in
 * time, the writer is slow, too (a busy machine): then the reader slows down.
 */
static void read_many(struct ep *ep, unsigned buffers, int may_pass, bool slow)
{
	int one_flip = 0, tries;
	unsigned late = 5 * PAUSE;

	accepted = torn = 0;
	barrier(ep);
	for (tries = 0; accepted < READS || own.generation < GENERATIONS;
	     tries++) {
		if (slow && tries - accepted == SLOW_READS)
			break;
		/* DOC: index-then-data. The second READ cannot be posted
		 * before the first has answered. */
		uint64_t g = fetch_generation(ep);
		if (slow)
			usleep(late);
		else if (tries % 4 == 0) /* sometimes we are late */
			usleep(PAUSE);
		fetch(ep, own.buffer, sizeof own.buffer,
		      offsetof(struct shared, buffer[g % buffers]));

		/* DOC: look-again */
		uint64_t passed = fetch_generation(ep) - g;
		if (may_pass >= 0 && passed > (uint64_t)may_pass) {
			usleep(100);
			continue;
		}
		accepted++;
		if (slow)
			late *= 2;
		if (!is_right(g)) {
			torn++;
			one_flip += passed <= 1;
		}
	}
	barrier(ep); /* the writer may stop */
	note("accepted %d of %d, of these torn %d (%d after at most one flip)",
	     accepted, tries, torn, one_flip);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	read_many(&ep, 2, -1, false);
	if (torn == 0)
		die("act 1: nothing was torn, so nothing was shown");
	say("act 1: taken as complete: some are torn");

	read_many(&ep, 2, 0, false);
	if (torn != 0)
		die("act 2: a torn buffer was accepted");
	say("act 2: accepted if no flip meanwhile: %d or more, none torn",
	    READS);

	read_many(&ep, BUFFERS, BUFFERS - 2, false);
	if (torn != 0)
		die("act 3: a torn buffer was accepted");
	say("act 3: %d buffers, up to %d flips meanwhile: "
	    "%d or more, none torn",
	    BUFFERS, BUFFERS - 2, READS);

	read_many(&ep, 2, 0, true);
	if (torn != 0)
		die("act 4: a torn buffer was accepted");
	say("act 4: a reader slower than the writer starves");
	barrier(&ep);
	say("PASS two buffers are not enough without a second look");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
