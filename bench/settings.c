/* SPDX-License-Identifier: MIT */
/*
 * bench/settings.c - what may be measured: each refusal says why.
 */
#include <endian.h>
#include <errno.h>

#include "bench.h"

void big_endian(uint64_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		number[i] = htobe64(number[i]);
}

bool atomic(const struct settings *set)
{
	return set->op == FETCH_ADD || set->op == CMP_SWAP;
}

bool two_sided(const struct settings *set)
{
	return set->op == SEND || set->op == WRITE_IMM;
}

/* The device's own limits. */
static void check_device(const struct settings *set, struct ep *base)
{
	struct ibv_device_attr can;
	int rc = ibv_query_device(base->ctx, &can);

	if (rc)
		die_err(rc, "ibv_query_device");
	/* Two receives for each message, and four credits: see side.c. */
	if (set->depth * 2 + 4 > (uint64_t)can.max_qp_wr)
		die("-q %llu: twice that, and 4, are more than a queue of this "
		    "device has, %d",
		    (unsigned long long)set->depth, can.max_qp_wr);
	int reads = can.max_qp_rd_atom < can.max_qp_init_rd_atom
			    ? can.max_qp_rd_atom
			    : can.max_qp_init_rd_atom;
	if (reads > UINT8_MAX) /* so wide is the attribute of the QP */
		reads = UINT8_MAX;
	if (set->op >= READ && set->depth > (uint64_t)reads)
		die("-q %llu: this device has %d READs and atomics under way",
		    (unsigned long long)set->depth, reads);
	if (atomic(set) && can.atomic_cap == IBV_ATOMIC_NONE)
		die("this device has no atomics");
	if (!set->inlined)
		return;
	/* No attribute tells the limit of INLINE: a QP is asked for it. */
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = base->cq,
		.recv_cq = base->cq,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = (uint32_t)set->size },
	};
	struct ibv_qp *qp = ibv_create_qp(base->pd, &init);
	if (!qp)
		die_err(errno, "-I 1 -s %llu: more than this device can INLINE",
			(unsigned long long)set->size);
	rc = ibv_destroy_qp(qp);
	if (rc)
		die_err(rc, "ibv_destroy_qp");
}

void check_settings(const struct settings *set, struct ep *base)
{
	bool ping_pong = set->mode == LATENCY;

	if (set->op >= OPS || set->mode > LATENCY)
		die("unknown operation or mode");
	if (set->size < 1 || set->size > 8388608 || set->count < 1 ||
	    set->count > 10000000 || set->depth < 1 || set->depth > 1000000 ||
	    set->list < 1 || set->signal < 1)
		die("-s is 1 to 8388608 bytes, -n 1 to 10000000, "
		    "-q 1 to 1000000, -l and -S are at least 1");
	if (set->inlined && set->op >= READ)
		die("-I 1: INLINE is for data that leaves, a READ or atomic "
		    "brings data");
	if (set->inlined && set->reregister)
		die("-I 1 -r 1: INLINE data is in no region of ours");
	if (atomic(set) && set->size != 8)
		die("-s %llu: an atomic has 8 bytes",
		    (unsigned long long)set->size);
	if (set->alignment < 1 || set->alignment > CACHE_LINE ||
	    set->alignment & (set->alignment - 1))
		die("-a is 1, 2, 4, 8, 16, 32 or 64");
	if (atomic(set) && set->alignment < 8)
		die("-a %llu: the address of an atomic is a multiple of 8",
		    (unsigned long long)set->alignment);
	if (ping_pong && (set->depth > 1 || set->list > 1 || set->signal > 1))
		die("-m latency: one message at a time, so -q, -l and -S "
		    "are 1");
	if (set->list > set->depth || set->signal > set->depth)
		die("-l and -S: not more than -q, or the queue is full for "
		    "ever");
	if (set->list > LONGEST_LIST)
		die("-l: not more than %d", LONGEST_LIST);
	if (set->list % set->signal && set->signal % set->list)
		die("-l and -S: one must be a multiple of the other, or the "
		    "queue may be full without a signal");
	if (set->verify && set->op == WRITE && !ping_pong)
		die("-V 1: nobody tells the server of a WRITE, so it cannot "
		    "look");
	if (set->events && (set->op == WRITE || set->op >= READ || ping_pong))
		die("-e 1: only with SEND or WRITE_IMM at a rate has the "
		    "server a completion to sleep for");
	if (base)
		check_device(set, base);
}
