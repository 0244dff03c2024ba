/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.2 - repair: the second look looks at nothing
 * side: client
 *
 * This reader looks again, and accepts torn buffers all the same.
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

static struct {
	uint64_t generation;
	uint64_t buffer[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;

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
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
	struct ibv_wc wc = wait_wc(ep);
	if (wc.status != IBV_WC_SUCCESS)
		die("RDMA_READ: %s", ibv_wc_status_str(wc.status));
}

/* DOC: fetch-generation. The server's, not a copy that we have here. */
static uint64_t fetch_generation(struct ep *ep)
{
	fetch(ep, &own.generation, sizeof own.generation,
	      offsetof(struct shared, generation));
	return own.generation;
}

/* By its content: the generation it should be, and only that. */
static bool is_right(uint64_t g)
{
	for (int i = 0; i < WORDS; i++)
		if (own.buffer[i] != g)
			return false;
	return true;
}

/*
 * Reads the newest buffer of `buffers`, until READS were accepted. `may_pass`:
 * accept if the writer has published at most that many generations meanwhile;
 * -1: do not look. Returns how many of the accepted were torn.
 */
static int read_many(struct ep *ep, unsigned buffers, int may_pass)
{
	int accepted = 0, rejected = 0, torn = 0, one_flip = 0;

	barrier(ep);
	for (int tries = 0; accepted < READS; tries++) {
		/* DOC: index-then-data. The second READ cannot be posted
		 * before the first has answered. */
		uint64_t g = fetch_generation(ep);
		uint64_t passed = fetch_generation(ep) - g; /* TODO 8.2 */
		usleep(tries % 4 ? 0 : PAUSE); /* sometimes we are slow */
		fetch(ep, own.buffer, sizeof own.buffer,
		      offsetof(struct shared, buffer[g % buffers]));

		/* DOC: look-again */
		if (may_pass >= 0 && passed > (uint64_t)may_pass) {
			rejected++;
			usleep(100);
			continue;
		}
		accepted++;
		if (!is_right(g)) {
			torn++;
			one_flip += passed <= 1;
		}
	}
	barrier(ep); /* the writer may stop */
	note("accepted %d, of these torn %d (%d after at most one flip); "
	     "rejected %d",
	     accepted, torn, one_flip, rejected);
	return torn;
}

/* What does looking again cost? */
static void time_reads(struct ep *ep)
{
	const int times = 50;
	double t[3] = { now_ms() };

	for (int i = 0; i < times; i++)
		fetch_generation(ep);
	t[1] = now_ms();
	for (int i = 0; i < times; i++)
		fetch(ep, own.buffer, sizeof own.buffer,
		      offsetof(struct shared, buffer[0]));
	t[2] = now_ms();
	note("a READ of 8 bytes takes %.0f us, one of %zu bytes %.0f us",
	     (t[1] - t[0]) / times * 1e3, sizeof own.buffer,
	     (t[2] - t[1]) / times * 1e3);
}

/* DOC: starve. A reader slower than the writer: it comes too late each time. */
static void read_slowly(struct ep *ep)
{
	unsigned late = 5 * PAUSE;
	int accepted = 0;

	barrier(ep);
	for (int tries = 0; tries < SLOW_READS; tries++) {
		uint64_t g = fetch_generation(ep);
		usleep(late);
		fetch(ep, own.buffer, sizeof own.buffer,
		      offsetof(struct shared, buffer[g % 2]));
		if (fetch_generation(ep) == g) {
			accepted++;
			late *= 2; /* it was not slow */
			if (!is_right(g))
				die("act 4: a torn buffer was accepted");
		}
	}
	barrier(ep);
	note("of %d slow reads %d were accepted", SLOW_READS, accepted);
	if (accepted > SLOW_READS / 4)
		die("act 4: the slow reader was served well");
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
	server = recv_info(&ep, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	time_reads(&ep);
	if (read_many(&ep, 2, -1) == 0)
		die("act 1: nothing torn: nothing was shown");
	say("act 1: taken as complete: torn buffers among them");

	if (read_many(&ep, 2, 0) != 0)
		die("act 2: a torn buffer was accepted");
	say("act 2: accepted if no flip meanwhile: %d, none torn", READS);

	if (read_many(&ep, BUFFERS, BUFFERS - 2) != 0)
		die("act 3: a torn buffer was accepted");
	say("act 3: %d buffers, up to %d flips meanwhile: %d, none torn",
	    BUFFERS, BUFFERS - 2, READS);

	read_slowly(&ep);
	say("act 4: a reader slower than the writer starves");
	barrier(&ep);
	say("PASS two buffers are not enough without a second look");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
