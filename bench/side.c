/* SPDX-License-Identifier: MIT */
/*
 * bench/side.c - one side: its memory, its QP, and whether what came is right.
 *
 * A message is a fixed text whose last byte is changed: mark() of the message's
 * number. So a receiver can tell a message from its neighbours, and from the one that
 * was in the same slot before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

/* Of short messages as many as perftest has: the more, the fewer credits. */
enum { SHORT = 256, RECEIVES_SHORT = 512, RECEIVES_LONG = 64 };

static char *text; /* what a message looks like, but for the last byte */

size_t out_slot(const struct side *s, uint64_t i)
{
	return s->set.alignment + i % s->set.depth * s->stride;
}

size_t in_slot(const struct side *s, uint64_t i)
{
	return s->set.alignment + (s->set.depth + i % s->in_slots) * s->stride;
}

_Atomic uint64_t *credit_word(const struct side *s)
{
	return (void *)(s->mem + (s->set.depth + s->in_slots) * s->stride);
}

/* A slot has another mark each time: 97 is odd. */
char mark(const struct side *s, uint64_t number)
{
	return (char)(number / s->in_slots * 97 + number % s->in_slots + 1);
}

void expect_message(const struct side *s, uint64_t i)
{
	const char *at = s->mem + in_slot(s, i);
	size_t body = s->set.size - 1;
	/* The peer's slots are not written again: the number is the slot's. */
	uint64_t number = s->set.op == READ ? i % s->set.depth : i, old;

	if (!atomic(&s->set)) {
		if (memcmp(at, text, body) != 0 || at[body] != mark(s, number))
			die("message %llu: other bytes than were sent",
			    (unsigned long long)i);
		return;
	}
	memcpy(&old, at, sizeof old);
	if (old != i) /* each atomic makes the word one more */
		die("atomic %llu: the old value is %llu", (unsigned long long)i,
		    (unsigned long long)old);
}

/* What the timed part left: the last message of each slot. */
void expect_all(const struct side *s)
{
	uint64_t n = s->set.count;

	for (uint64_t i = n > s->in_slots ? n - s->in_slots : 0; i < n; i++)
		if (!s->set.verify) /* else it was compared when it came */
			expect_message(s, i);
}

struct ibv_mr *must_register(const struct side *s, void *at, size_t len,
			     int rights)
{
	struct ibv_mr *mr = ibv_reg_mr(s->ep.pd, at, len, rights);

	if (!mr)
		die_err(errno, "ibv_reg_mr");
	return mr;
}

void must_deregister(struct ibv_mr *mr)
{
	int rc = ibv_dereg_mr(mr);

	if (rc)
		die_err(rc, "ibv_dereg_mr");
}

struct side side_open(struct ep *base, const struct settings *set, bool server)
{
	static const int of_op[OPS] = {
		[WRITE] = IBV_ACCESS_REMOTE_WRITE,
		[WRITE_IMM] = IBV_ACCESS_REMOTE_WRITE,
		[READ] = IBV_ACCESS_REMOTE_READ,
		[FETCH_ADD] = IBV_ACCESS_REMOTE_ATOMIC,
		[CMP_SWAP] = IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct side s = { .set = *set, .server = server };
	/* Pongs and credits are WRITEs to the client. */
	int rights = server           ? of_op[set->op]
		     : set->op < READ ? IBV_ACCESS_REMOTE_WRITE
				      : 0;

	uint64_t least = set->size <= SHORT ? RECEIVES_SHORT : RECEIVES_LONG;
	s.receives = set->depth * 2 > least ? set->depth * 2 : least;
	if (s.receives > set->count) /* of long ones 64 may be too large */
		s.receives = set->count > 1 ? set->count : 2;
	if (!two_sided(set))
		s.receives = 1;
	struct ibv_qp_cap cap = {
		.max_send_wr = (uint32_t)set->depth + 4, /* 4 credits */
		.max_recv_wr = (uint32_t)s.receives,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = set->inlined ? (uint32_t)set->size : 0,
	};
	s.ep = ep_second(base, cap);
	/* READs and atomics: as many as are asked for; check_device() knows
	 * that the device can. */
	if (set->op >= READ)
		s.ep.max_rd_atomic = s.ep.max_dest_rd_atomic =
			(uint8_t)set->depth;

	/* Slots begin at a multiple of the alignment, and of no larger power
	 * of two up to a cache line. */
	s.in_slots = two_sided(set) ? s.receives : set->depth;
	s.stride = (set->size + CACHE_LINE + 2 * CACHE_LINE - 1) /
		   (2 * CACHE_LINE) * (2 * CACHE_LINE);
	s.bytes = (set->depth + s.in_slots) * s.stride + 2 * CACHE_LINE;
	s.mem = aligned_alloc(4096, (s.bytes + 4095) / 4096 * 4096);
	s.own_mr = calloc(set->depth, sizeof(struct ibv_mr *));
	text = malloc(set->size);
	if (!s.mem || !s.own_mr || !text)
		die("no memory for %zu bytes", s.bytes);
	for (size_t i = 0; i < set->size; i++)
		text[i] = (char)(i * 7 + i / 256 + 3);
	/* What is there before is no message, and no old value of an atomic. */
	memset(s.mem, server ? 0 : 0xff, s.bytes);
	*credit_word(&s) = 0;
	for (uint64_t i = 0; i < set->depth && !atomic(set); i++) {
		char *at = s.mem + out_slot(&s, i);

		memcpy(at, text, set->size);
		at[set->size - 1] = mark(&s, i);
	}
	s.mr = must_register(&s, s.mem, s.bytes,
			     rights | IBV_ACCESS_LOCAL_WRITE);

	/* The client is the first to tell, and both post receives before. */
	qp_to_init(&s.ep, (unsigned)rights);
	for (uint64_t i = 0; two_sided(set) && i < s.receives; i++)
		post_receives(&s, &i, 1);
	if (!server)
		send_info(&s.ep, s.mr);
	s.peer = recv_info(&s.ep, s.bytes);
	if (server)
		send_info(&s.ep, s.mr);
	qp_to_rtr(&s.ep, &s.peer);
	qp_to_rts(&s.ep);
	return s;
}

void forget_regions(struct side *s)
{
	for (uint64_t i = 0; i < s->set.depth; i++) {
		if (s->own_mr[i])
			must_deregister(s->own_mr[i]);
		s->own_mr[i] = NULL;
	}
}

void side_close(struct side *s)
{
	forget_regions(s); /* of ping_pong() */
	must_deregister(s->mr);
	ep_close(&s->ep);
	free(s->own_mr);
	free(s->mem);
	free(text);
}

struct cost cpu_time(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		die_err(errno, "getrusage");
	return (struct cost){
		.user_us = (uint64_t)(u.ru_utime.tv_sec * 1000000 +
				      u.ru_utime.tv_usec),
		.system_us = (uint64_t)(u.ru_stime.tv_sec * 1000000 +
					u.ru_stime.tv_usec),
	};
}

struct cost cost_since(const struct side *s, struct cost before)
{
	struct cost cost = cpu_time();

	cost.user_us -= before.user_us;
	cost.system_us -= before.system_us;
	cost.completions = s->completions;
	return cost;
}
