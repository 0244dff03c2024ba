/* SPDX-License-Identifier: MIT */
/*
 * 06_atomics/atomic_write.c - eight bytes at once.
 *
 * No verb says that the bytes of a WRITE arrive together: a program that looks at
 * the word meanwhile may find half of the old value and half of the new one. An
 * ATOMIC_WRITE sets 8 aligned bytes at once. It compares nothing and returns
 * nothing. This program is both ends: two queue pairs of one device, connected
 * to each other. It looks at the word while the requests are on their way.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

/* Value n has n in each byte: no mixture of two values is a third one. */
enum { VALUES = 255 };
#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Linux ib_user_verbs.h, IB_UVERBS_DEVICE_ATOMIC_WRITE: libibverbs has no name
 * for it. */
#define DEVICE_ATOMIC_WRITE (1ULL << 40)

static _Alignas(64) _Atomic uint64_t word; /* what the requests write */
static _Alignas(64) uint64_t new;
static struct ibv_mr *word_mr, *new_mr;

static bool has_atomic_write(const struct ep *ep)
{
	struct ibv_device_attr_ex attr;
	int rc = ibv_query_device_ex(ep->ctx, NULL, &attr);

	if (rc)
		die_err(rc, "ibv_query_device_ex");
	return attr.device_cap_flags_ex & DEVICE_ATOMIC_WRITE;
}

/* Only the extended API has ATOMIC_WRITE, on a QP that was made for it. */
static void make_extended(struct ep *ep)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = ep->cq,
		.recv_cq = ep->cq,
		.cap = ep->cap,
		.pd = ep->pd,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags =
			IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_RDMA_WRITE,
	};
	int rc = ibv_destroy_qp(ep->qp);

	if (rc)
		die_err(rc, "ibv_destroy_qp");
	ep->qp = ibv_create_qp_ex(ep->ctx, &init);
	if (!ep->qp)
		die_err(errno, "ibv_create_qp_ex");
}

static void connect_to(struct ep *ep, const struct ep *peer, unsigned access)
{
	struct qp_info info = own_info(peer);

	qp_to_init(ep, access);
	qp_to_rtr(ep, &info);
	qp_to_rts(ep);
}

/* Posts a WRITE of half the word: the first half (0) or the second (1). */
static void post_half(struct ep *ep, unsigned half)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ep->qp);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qp, word_mr->rkey, (uintptr_t)&word + 4 * half);
	ibv_wr_set_sge(qp, new_mr->lkey, (uintptr_t) & new + 4 * half, 4);
	int rc = ibv_wr_complete(qp);
	if (rc)
		die_err(rc, "ibv_wr_complete");
}

/* DOC: atomic-write. The whole word, by one request. */
static void post_whole(struct ep *ep)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ep->qp);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qp, word_mr->rkey, (uintptr_t)&word, &new);
	int rc = ibv_wr_complete(qp);
	if (rc)
		die_err(rc, "ibv_wr_complete");
}

static int looks;

/*
 * Waits for a completion and until the word is `end`: the completion says only
 * that the request was executed. Looks at the word all the time, and returns
 * true if it ever finds another value than the old one or the new one.
 */
static bool torn_until(struct ep *ep, uint64_t old, uint64_t end)
{
	double since = now_ms();
	bool completed = false, torn = false;
	struct ibv_wc wc;
	uint64_t seen;

	do {
		keep_waiting(ep, since, "the word to change");
		int n = completed ? 0 : ibv_poll_cq(ep->cq, 1, &wc);
		if (n < 0)
			die("ibv_poll_cq returned %d", n);
		if (n > 0 && wc.status != IBV_WC_SUCCESS)
			die("%s", ibv_wc_status_str(wc.status));
		completed |= n > 0;
		seen = atomic_load_explicit(&word, memory_order_relaxed);
		torn |= seen != old && seen != new;
		looks++;
	} while (!completed || seen != end);
	return torn;
}

/* Two WRITEs. The look between them always finds half of each value. So this
 * program sees a torn word if there is one. */
static int two_writes(struct ep *ep)
{
	int torn = 0;

	for (unsigned n = 1; n <= VALUES; n++) {
		uint64_t old = word, half = old;

		new = EACH_BYTE *n;
		memcpy(&half, &new, 4);
		post_half(ep, 0);
		bool first = torn_until(ep, old, half);
		post_half(ep, 1);
		torn += torn_until(ep, old, new) || first;
	}
	return torn;
}

static int one_atomic_write(struct ep *ep)
{
	int torn = 0;

	for (unsigned n = 1; n <= VALUES; n++) {
		uint64_t old = word;

		new = EACH_BYTE *n;
		post_whole(ep);
		torn += torn_until(ep, old, new);
	}
	return torn;
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "atomic_write", LESSON);
	struct ibv_qp_cap cap = { 0 }; /* one request at a time */
	struct ep there = ep_open(&opt, cap), here = ep_second(&there, cap);

	if (!has_atomic_write(&here)) {
		say("%s has no ATOMIC_WRITE (rxe has it since Linux 6.2)",
		    here.ctx->device->name);
		exit(77);
	}
	make_extended(&here);
	word_mr = ibv_reg_mr(there.pd, &word, sizeof word,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	new_mr = ibv_reg_mr(here.pd, &new, sizeof new, 0);
	if (!word_mr || !new_mr)
		die_err(errno, "ibv_reg_mr");
	connect_to(&here, &there, 0);
	connect_to(&there, &here, IBV_ACCESS_REMOTE_WRITE);

	int torn = two_writes(&here);
	if (torn == 0)
		die("act 1: nothing was torn, so nothing was shown");
	say("act 1: two WRITEs of 4 bytes: %d values, %d seen torn", VALUES,
	    torn);
	torn = one_atomic_write(&here);
	note("looked at the word %d times", looks);
	if (torn != 0)
		die("act 2: %d values seen torn", torn);
	say("act 2: ATOMIC_WRITE of 8 bytes: %d values, none seen torn",
	    VALUES);
	say("PASS in act 2 every look found the old value or the new one, "
	    "whole");

	int rc = ibv_dereg_mr(new_mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	rc = ibv_dereg_mr(word_mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&here);
	ep_close(&there);
	return 0;
}
