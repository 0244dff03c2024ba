/* SPDX-License-Identifier: MIT */
/*
 * 07_versioning/server.c - write while others read.
 *
 * The server's CPU changes the record, and the client's NIC reads it whenever
 * it likes. No lock: a version number lets the reader see whether it came at
 * a bad moment. That works if the number says "in the middle of it" *during*
 * the update. A number that changes only afterwards does not.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

static _Alignas(64) struct record record;

/* How long the writer rests in and after each update, in us. Ever longer: on a
 * slow network, too, READs come in between, and three READs fit in. */
static unsigned rest;

/* Half of the data, a rest, the other half: a reader who comes in between is
 * sure to find both, on a fast machine as on a slow one. */
static void write_data(uint64_t n)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep(rest);
		record.data[i] = n;
	}
	record.sum = sum_of(record.data);
}

static _Atomic uint64_t *version(void)
{
	return (_Atomic uint64_t *)&record.version;
}

/* DOC: naive. The version is changed once, when all is written. */
static void naive_update(uint64_t n)
{
	write_data(n);
	atomic_store_explicit(version(), n, memory_order_release);
}

/*
 * DOC: seqlock. Odd while we write, even when the record is whole. The fence
 * keeps the data's stores behind the odd version, the release store keeps the
 * even version behind the data's. C11 says so for readers that are CPUs, of
 * data that is atomic; compilers keep to it for plain stores, too. Of NICs it
 * says nothing. On x86 DMA is coherent, and a NIC sees our stores in the order
 * in which another CPU would. On arm64 this fence is dmb ish; for stores that a
 * device reads rdma-core takes dmb oshst (util/udma_barrier.h).
 */
static void seqlock_update(uint64_t n)
{
	atomic_store_explicit(version(), 2 * n - 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	write_data(n);
	atomic_store_explicit(version(), 2 * n, memory_order_release);
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
		if (ms > ep->opt->wait_s * 8e3)
			die("the client does not come to an end");
	}
	note("%d updates so far", (int)n);
	barrier(ep);
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

	/* Only to be read. That *we* write to it needs no right at all: rights
	 * are for NICs. */
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &record, sizeof record,
				       IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);
	record.sum = sum_of(record.data);

	write_until_called(&ep, naive_update);
	say("act 1: version changed after each update");
	write_until_called(&ep, seqlock_update);
	say("act 2: version odd during each update");
	barrier(&ep);
	if (record.version % 2 != 0)
		die("the last update was not finished");
	say("PASS I never waited for a reader, and the last update is whole");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
