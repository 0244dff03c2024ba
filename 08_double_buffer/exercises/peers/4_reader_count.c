/* SPDX-License-Identifier: MIT */
/*
 * The server of exercise 8.4: a writer with two buffers that waits for readers.
 * Before it writes to a buffer it looks whether somebody holds it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../4_reader_count.h"
#include "common.h"
#include "lesson.h"

static struct counted mem;

/* Half of the buffer, a rest, the other half. */
static void fill(uint64_t *buffer, uint64_t g)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep(PAUSE);
		buffer[i] = g;
	}
}

static void publish(uint64_t g)
{
	atomic_store_explicit((_Atomic uint64_t *)&mem.shared.generation, g,
			      memory_order_release);
}

/* A load, and never more: the word is the NIC's to change. With IBV_ATOMIC_HCA
 * an addition by our CPU could be lost, or undo that of a reader. */
static uint64_t readers(unsigned b)
{
	return atomic_load_explicit((_Atomic uint64_t *)&mem.readers[b],
				    memory_order_acquire);
}

/* Waits until nobody holds the buffer; false if the client has finished before
 * that. *times counts how often there was something to wait for. */
static bool wait_for_readers(struct ep *ep, unsigned b, int *times)
{
	double since = now_ms();

	/*
	 * Either the reader's second look finds what we have published, or we
	 * find its count: so our store of the generation must be out before we
	 * load the count. No release or acquire keeps a load behind a store; x86
	 * does let it pass. This fence keeps it there. C11 promises that for
	 * CPUs and says nothing of NICs; where DMA is coherent, a NIC takes
	 * part as another CPU would.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (readers(b) == 0)
		return true;
	++*times;
	while (readers(b) != 0) {
		if (peer_waits(ep))
			return readers(b) == 0;
		keep_waiting(ep, since, "a reader to count itself out");
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);
	/* LOCAL_WRITE, because atomics make our own NIC write. */
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, &mem, sizeof mem,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	double start = now_ms();
	uint64_t g = 0;
	int waits = 0;
	while (!peer_waits(&ep) && wait_for_readers(&ep, (g + 1) % 2, &waits)) {
		g++;
		fill(mem.shared.buffer[g % 2], g);
		publish(g);
		if (now_ms() - start > ep.opt->wait_s * 3e3)
			die("the client does not come to an end");
	}
	barrier(&ep);
	note("%d generations; waited %d times for a reader", (int)g, waits);
	for (unsigned b = 0; b < 2; b++)
		if (readers(b) != 0)
			die("the client has finished, and buffer %u still has "
			    "a reader",
			    b);
	if (waits == 0)
		die("I never had to wait: who counted itself in?");
	if (g < SLOW_READS / 2)
		die("%d slow reads, and I hardly got on", SLOW_READS);
	barrier(&ep);
	say("PASS I waited for readers, and got on between them");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
