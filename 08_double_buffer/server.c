/* SPDX-License-Identifier: MIT */
/*
 * 08_double_buffer/server.c - write one buffer while others read the other.
 *
 * The server's CPU writes the next generation into a buffer that nobody
 * should be reading, then publishes it with one store. The writer never waits.
 * So it may come back to a buffer that is still being read.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

static struct shared shared;

/* Half of the buffer, a rest, the other half. */
static void fill(uint64_t *buffer, uint64_t g)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep(PAUSE);
		buffer[i] = g;
	}
}

/*
 * DOC: publish. A release store of an aligned 8-byte word: a reader that sees
 * the new generation finds its buffer complete. volatile does not promise that.
 * The fence: a reader that sees a part of the next update sees this generation,
 * too. C11 promises both for CPUs. On x86 both hold for NICs as well, for plain
 * stores to ordinary memory. On arm64 this fence is dmb ish; rdma-core takes dmb
 * oshst towards a device (util/udma_barrier.h).
 */
static void publish(uint64_t g)
{
	atomic_store_explicit(&shared.generation, g, memory_order_release);
	atomic_thread_fence(memory_order_release);
}

/* Writes generation after generation until the client has seen enough. With
 * rests, which become longer, a client that looks again is served on a slow
 * network, too. */
static void write_until_called(struct ep *ep, unsigned buffers, bool rests)
{
	double start = now_ms();
	uint64_t g = 0;

	for (unsigned i = 0; i < BUFFERS; i++)
		for (int k = 0; k < WORDS; k++)
			shared.buffer[i][k] = 0;
	publish(0);
	barrier(ep);
	while (!peer_waits(ep)) {
		g++;
		fill(shared.buffer[g % buffers], g);
		publish(g);
		double ms = now_ms() - start;
		usleep(rests ? (unsigned)(ms * ms / 1e3) : 0);
		if (ms > ep->opt->wait_s * 3e3)
			die("the client does not finish");
	}
	note("%d generations in %u buffers", (int)g, buffers);
	barrier(ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &shared, sizeof shared,
				       IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	write_until_called(&ep, 2, false);
	say("act 1: two buffers");
	write_until_called(&ep, 2, true);
	say("act 2: two buffers");
	write_until_called(&ep, BUFFERS, true);
	say("act 3: %d buffers", BUFFERS);
	write_until_called(&ep, 2, false);
	say("act 4: two buffers");
	barrier(&ep);
	say("PASS the writer never waited for a reader");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
