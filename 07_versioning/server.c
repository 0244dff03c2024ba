/* SPDX-License-Identifier: MIT */
/*
 * 07_versioning/server.c - write while others read.
 *
 * The server's CPU changes the record, and the client's NIC reads the record
 * at any moment. There is no lock: a version number shows the reader whether it
 * came at a bad moment. For that the number must say "being written" *during*
 * the update. A number that changes only after the update is not enough.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

static _Alignas(64) struct record record;

/* How long the writer rests in and after each update, in us. The rests become
 * longer: so three READs fit into a rest on a slow network, too. */
static unsigned rest;

/* Half of the data, a rest, the other half: a reader that comes in between
 * finds old and new data, on a fast machine and on a slow one. */
static void write_data(uint64_t n)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep(rest);
		record.data[i] = n;
	}
}

/* DOC: naive. The version is changed once, after all is written. */
static void naive_update(uint64_t n)
{
	write_data(n);
	atomic_store_explicit(&record.version, n, memory_order_release);
}

/*
 * DOC: seqlock. The version is odd while we write, and even when the record is
 * whole. The fence keeps the stores of the data behind the odd version. The
 * release store keeps the even version behind the data. C11 promises this for
 * readers that are CPUs, and for atomic data; compilers do it for plain stores,
 * too. C11 says nothing about NICs. On x86 DMA is coherent, and a NIC sees our
 * plain stores to ordinary memory in the order in which another CPU would. (Other
 * stores need sfence.) On arm64 this fence is dmb ish; rdma-core takes dmb oshst
 * towards a device (util/udma_barrier.h).
 */
static void seqlock_update(uint64_t n)
{
	atomic_store_explicit(&record.version, 2 * n - 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	write_data(n);
	atomic_store_explicit(&record.version, 2 * n, memory_order_release);
}

/* Updates the record until the client has seen enough of it. */
static void write_until_called(struct ep *ep, void (*update)(uint64_t))
{
	static uint64_t n;
	double start = now_ms();

	barrier(ep);
	while (!peer_waits(ep)) {
		double ms = now_ms() - start;
		rest = PAUSE + (unsigned)(ms * ms / 1e3);
		update(++n);
		usleep(rest);
		if (ms > ep->opt->wait_s * 3e3)
			die("the client does not finish");
	}
	note("%d updates so far", (int)n);
	barrier(ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* Other NICs may only READ the record. Our CPU needs no right to write
	 * to it: rights are for NICs. */
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &record, sizeof record,
				       IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	write_until_called(&ep, naive_update);
	say("act 1: version changed after each update");
	write_until_called(&ep, seqlock_update);
	say("act 2: version odd during each update");
	barrier(&ep);
	for (int i = 0; i < WORDS; i++)
		if (record.data[i] * 2 != record.version)
			die("the last update was not finished");
	say("PASS the writer never waited for a reader, and the last update is "
	    "whole");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
