/* SPDX-License-Identifier: MIT */
/*
 * bench/move.c - the timed part: post, poll, wait.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "post.h"

/* A receive of a SEND needs a slot; that of a WRITE_IMM only tells. */
void post_receives(struct side *s, const uint64_t *slot, int n)
{
	struct ibv_recv_wr wr[16], *bad;
	struct ibv_sge sge[16];

	for (int i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)s->mem + in_slot(s, slot[i]),
			.length = (uint32_t)s->set.size,
			.lkey = s->mr->lkey,
		};
		wr[i] = (struct ibv_recv_wr){
			.wr_id = slot[i],
			.sg_list = &sge[i],
			.num_sge = s->set.op == SEND,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
		};
	}
	int rc = ibv_post_recv(s->ep.qp, wr, &bad);
	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* The buffer's own region, instead of the one for all: the request that had it
 * is complete, or this slot would not be used again. */
static uint32_t key_of(struct side *s, uint64_t i, char *local)
{
	struct ibv_mr **own = &s->own_mr[i % s->set.depth];

	if (!s->set.reregister)
		return s->mr->lkey;
	if (*own)
		must_deregister(*own);
	*own = must_register(s, local, s->set.size, IBV_ACCESS_LOCAL_WRITE);
	return (*own)->lkey;
}

void post_messages(struct side *s, uint64_t n)
{
	static const enum ibv_wr_opcode opcodes[OPS] = {
		IBV_WR_SEND,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	static struct ibv_send_wr wr[LONGEST_LIST];
	static struct ibv_sge sge[LONGEST_LIST];
	const struct settings *set = &s->set;

	for (uint64_t k = 0; k < n; k++) {
		uint64_t i = s->posted + k;
		bool last = (i + 1) % set->signal == 0 || i + 1 == set->count;
		bool brings = set->op >= READ;
		char *local =
			s->mem + (brings ? in_slot(s, i) : out_slot(s, i));
		uint64_t remote = s->peer.addr + (atomic(set) ? out_slot(s, 0)
						  : brings    ? out_slot(s, i)
							      : in_slot(s, i));

		if (!brings) /* the message that was in this slot is complete */
			local[set->size - 1] = mark(s, i);
		sge[k] = (struct ibv_sge){
			.addr = (uintptr_t)local,
			.length = (uint32_t)set->size,
			.lkey = key_of(s, i, local),
		};
		wr[k] = (struct ibv_send_wr){
			.wr_id = i,
			.opcode = opcodes[set->op],
			.send_flags = (last ? IBV_SEND_SIGNALED : 0u) |
				      (set->inlined ? IBV_SEND_INLINE : 0u),
			.sg_list = &sge[k],
			.num_sge = 1,
			.next = k + 1 < n ? &wr[k + 1] : NULL,
		};
		if (set->op == WRITE_IMM)
			wr[k].imm_data = htonl((uint32_t)i);
		if (atomic(set)) {
			wr[k].wr.atomic.remote_addr = remote;
			wr[k].wr.atomic.rkey = s->peer.rkey;
			wr[k].wr.atomic.compare_add =
				set->op == FETCH_ADD ? 1 : i;
			wr[k].wr.atomic.swap = i + 1;
		} else {
			wr[k].wr.rdma.remote_addr = remote;
			wr[k].wr.rdma.rkey = s->peer.rkey;
		}
	}
	post(&s->ep, wr);
	s->posted += n;
}

/* Message i is here: with -V it is compared now, and its slot is cleared, but
 * for the last byte: ping_pong() looks at that. */
static void arrived(struct side *s, uint64_t i)
{
	if (!s->set.verify)
		return;
	expect_message(s, i);
	if (!atomic(&s->set))
		memset(s->mem + in_slot(s, i), 0, s->set.size - 1);
}

bool pump(struct side *s)
{
	struct ibv_wc wc[16];
	uint64_t slots[16];
	int receives = 0;
	int n = ibv_poll_cq(s->ep.cq, 16, wc);

	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	for (int k = 0; k < n; k++) {
		if (wc[k].status != IBV_WC_SUCCESS)
			die("request %llu: %s", (unsigned long long)wc[k].wr_id,
			    ibv_wc_status_str(wc[k].status));
		s->completions++;
		if (wc[k].opcode & IBV_WC_RECV) {
			arrived(s, s->received++);
			slots[receives++] = wc[k].wr_id;
		} else if (wc[k].wr_id == CREDIT) {
			s->telling--;
		} else { /* a send queue works in order: those before, too */
			while (s->done <= wc[k].wr_id) {
				if (s->set.op >= READ)
					arrived(s, s->done);
				s->done++;
			}
		}
	}
	/* Not more than there are messages to come: what came last stays in its slots,
	 * and is compared there at the end. */
	uint64_t left = s->set.count - s->received;
	int needless = left < s->receives ? (int)(s->receives - left) : 0;
	if (receives > needless)
		post_receives(s, slots, receives - needless);
	return n;
}

/* keep_waiting() makes system calls, and sleeps when 2 ms have passed. If both ends
 * spin on one CPU, that keeps them there, each waiting 2 ms for the other; who only
 * spins is moved to another CPU. So we spin for 100 ms. */
void waiting(struct side *s, struct wait *w, const char *what)
{
	if (++w->turns % 64 != 0)
		return;
	if (w->since == 0)
		w->since = now_ms();
	else if (now_ms() - w->since > 100)
		keep_waiting(&s->ep, w->since, what);
}

/* A WRITE tells nobody: whoever waits for it looks at its last byte. That it is
 * there last is what NICs do, and not promised; perftest waits so, too. */
static void await_message(struct side *s, uint64_t i)
{
	volatile char *last = s->mem + in_slot(s, i) + s->set.size - 1;
	struct wait w = { 0 };

	if (two_sided(&s->set)) {
		while (s->received <= i)
			if (!pump(s))
				waiting(s, &w, "a message");
		return;
	}
	while (*last != mark(s, i))
		waiting(s, &w, "the last byte of a message");
	arrived(s, i);
}

static void await_done(struct side *s)
{
	struct wait w = { 0 };

	while (s->done < s->posted)
		if (!pump(s))
			waiting(s, &w, "a completion");
}

void ping_pong(struct side *s, double *at)
{
	for (uint64_t i = 0; i < s->set.count; i++) {
		if (s->server)
			await_message(s, i);
		else
			at[i] = now_ms();
		post_messages(s, 1);
		await_done(s);
		if (!s->server && s->set.op < READ)
			await_message(s, i);
	}
	if (!s->server)
		at[s->set.count] = now_ms();
}
