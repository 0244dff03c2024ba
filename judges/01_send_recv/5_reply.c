/* SPDX-License-Identifier: MIT */
/*
 * judges/01_send_recv/5_reply.c - a client that is slow to take replies.
 *
 * before: reply 1 is posted, the slot of its request is not
 * hint1: What can the client do as soon as it has the reply, even before
 * hint1: you have your completion? While you wait for a SEND to complete,
 * hint1: what else may come out of the CQ?
 * hint1.zh: 客户端一收到应答就能做什么？这时你可能还没有取到 CQE。等 SEND 完成
 * hint1.zh: 的时候，CQ 里还可能出来什么？
 * hint2: One loop, and it takes one completion a turn. A SEND: count it.
 * hint2: A receive: remember its slot and length in a queue. Then, if a
 * hint2: request is waiting and fewer than REPLIES SENDs are under way:
 * hint2: answer, post the slot, send.
 * hint2.zh: 只用一个循环，每轮取一条 CQE。是 SEND 的：计数。是接收请求的：把槽
 * hint2.zh: 位和长度记进队列。然后，只要有请求在等，而且在途的 SEND 少于
 * hint2.zh: REPLIES 个：算出应答，重新投递槽位，再发送。
 */
#include <string.h>

#include "5_reply.h"
#include "queues.h"

const char *an_error_ends_it = "1uH"; /* of a request, of a SEND, the 24th */

enum { N = 12, ANSWER = 64 };

static struct duo d;
static struct desk desk;
static struct ibv_mr *mr, *client_mr;
static char said[TEXT]; /* by the client, or to it */

static enum { POSTED, CAME, READ } state[SLOTS];
static uint64_t from[2 * N];         /* where the SEND of a reply reads */
static int signaled[2 * N];          /* SENDs that make a completion */
static int asked, taken;             /* requests */
static int done, receives, received; /* replies */

void post_slot(struct ep *ep, uint64_t slot)
{
	if (slot >= SLOTS || state[slot] != READ)
		blame("slot %d is posted before it was read", (int)slot);
	state[slot] = POSTED;
	add_receive(ep, slot, desk.request[slot], TEXT, mr);
}

static uint32_t length_of(int request)
{
	return (uint32_t)(TEXT - request);
}

/* Each second SEND completes behind all requests that the replies so far have let the
 * client send; the others before them. */
static bool is_late(int reply)
{
	return reply % 2 == 0;
}

uint32_t answer(const char *text, uint32_t len, char *to)
{
	long slot = (text - desk.request[0]) / TEXT;

	about("reply %d", seen.posted + 1);
	if (slot < 0 || slot >= SLOTS || state[slot] != CAME)
		wrong("there is no request in slot %ld", slot);
	for (int k = done + 1; k <= seen.posted; k++)
		if (from[k] == (uintptr_t)to)
			wrong("written over reply %d: its SEND is not done%s",
			      k,
			      is_late(k) ? ", and its completion may come "
					   "behind a request"
					 : "");
	if (len != length_of(text[0]))
		wrong("its request has %u bytes, not %u", length_of(text[0]),
		      len);
	state[slot] = READ;
	for (uint32_t k = 0; k < len; k++) /* other bytes than the request's */
		to[k] = (char)(text[k] + ANSWER);
	return len;
}

/* The next reply whose SEND will complete, or 0. */
static int next_done(void)
{
	return signaled[seen.found - taken];
}

static bool holds(void)
{
	return is_late(next_done()) && taken < N && taken < seen.posted + SLOTS;
}

static void look_at(int reply, uint32_t len)
{
	int request = said[0] - ANSWER;

	if (request > 0 && request != reply)
		blame("reply %d is the answer to request %d", reply, request);
	if (len != length_of(reply))
		blame("reply %d has %u bytes, and answer() returned %u", reply,
		      len, length_of(reply));
	for (uint32_t k = 0; k < len; k++)
		if (said[k] != reply + ANSWER)
			blame("reply %d: byte %u is not what answer() wrote",
			      reply, k);
}

/* Its turn is when the function looks. It posts a receive when that waits. */
static void client(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };
	int next = next_done();
	struct ibv_wc wc;

	if (ibv_poll_cq(d.peer.cq, 1, &wc) == 1)
		look_at(++received, wc.byte_len);
	/* So that the function sees everything in the same order on every run. */
	if (next != 0 && next <= received && !is_late(next))
		return;
	for (; asked < N && asked < received + SLOTS; asked++) {
		memset(said, asked + 1, TEXT);
		outcome(&d.peer, send, said, length_of(asked + 1), client_mr);
	}
	/* A second look in vain is a wait: who has armed the CQ sleeps behind it. */
	if (taken == asked && receives == received && seen.in_vain > 0) {
		add_receive(&d.peer, 0, said, TEXT, client_mr);
		receives++;
	}
	if (seen.in_vain <= A_WAIT || taken < asked || received < seen.posted ||
	    seen.found - taken < seen.signaled)
		return;
	if (seen.posted > 0 && !seen.last_signaled)
		blame("you wait, and the SEND of reply %d makes no completion",
		      seen.posted);
	if (taken > seen.posted)
		blame("you wait, and request %d has no reply: nothing more "
		      "comes",
		      seen.posted + 1);
	blame("you wait for a completion, and none will come");
}

static void found(const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_SEND) {
		done = signaled[seen.found - taken];
		return;
	}
	state[wc->wr_id] = CAME;
	taken++;
}

static void posts(const struct ibv_send_wr *wr)
{
	int n = seen.posted + 1;

	/* Behind the last requests no other comes. */
	if (seen.receives < n && seen.receives < N - SLOTS)
		blame("reply %d is posted, the slot of its request is not", n);
	if (wr->send_flags & IBV_SEND_SIGNALED)
		signaled[seen.signaled] = n;
	from[n] = wr->sg_list[0].addr;
}

void judge(void)
{
	duo_open(&d,
		 (struct ibv_qp_cap){ .max_send_wr = 16, .max_recv_wr = 16 });
	d.you.rnr_retry = 7;      /* the client takes its time ... */
	d.peer.min_rnr_timer = 1; /* ... but no more than it has to */
	duo_connect(&d, 0, 0);
	mr = open_memory(&d.you, &desk, sizeof desk);
	client_mr = open_memory(&d.peer, said, TEXT);
	desk.lkey = mr->lkey;
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		add_receive(&d.you, slot, desk.request[slot], TEXT, mr);
	hold_sends(&d.you, holds);
	watch(&d.you, &(struct watch){ .posts = posts,
				       .looks = client,
				       .found = found });
	client();
	serve(&d.you, &desk, N);
	if (done < N)
		blame("serve() returned, and %d SENDs were not done", N - done);
	client();
}
