/* SPDX-License-Identifier: MIT */
/*
 * judges/00_hello/3_drain.c - a connection ends in the middle of its work.
 *
 * before: it returned, and the NIC holds 9 buffers
 * hint1: How many completions must come in all? What tells you whether a
 * hint1: flushed request was a receive or a SEND?
 * hint1.zh: 一共应该有多少条 CQE？被 flush 的请求是接收请求还是 SEND，靠什
 * hint1.zh: 么判断？
 * hint2: State first, then a loop that counts completions down from
 * hint2: receives + sends. A receive's wr_id and success: deliver. All else:
 * hint2: give back.
 * hint2.zh: 先切换 QP 的状态，再用一个循环取 CQE，从 receives + sends 往下数。
 * hint2.zh: wr_id 是接收请求的，而且成功：交付。其余的一律归还。
 */
#include <string.h>

#include "3_drain.h"

enum { RECEIVES = 6, SENDS = 3, LEN = 16, MESSAGES = 2 };
enum { EMPTY = 3, MANY = 20000, PATIENCE = 100000 }; /* looks in vain */

static struct duo d;
static char in[RECEIVES][LEN], out[SENDS][LEN], text[LEN + 1];
static struct ibv_wc came[FIRST_SEND + SENDS]; /* of each request */
static bool completed[FIRST_SEND + SENDS], back[FIRST_SEND + SENDS];
static int receives, sends, delivered;

static void looks(void)
{
	about("%s", "");
	if (seen.found == receives + sends && seen.in_vain > A_WAIT)
		wrong("all completions are there, and it polls for one more");
	if (seen.in_vain > PATIENCE)
		wrong("%d completions came, and nothing makes the others come",
		      seen.found);
}

/* Flushing takes a while: the CQ is empty before each completion, before the last one for
 * many looks, or for a second. But whoever arms the CQ and then finds it empty may sleep
 * until an event comes. */
static bool lets_find(void)
{
	bool last = seen.found == receives + sends - 1;

	return seen.armed || seen.in_vain >= (last ? MANY : EMPTY) ||
	       now_ms() - seen.since > 1000;
}

static void found(const struct ibv_wc *wc)
{
	if (wc->wr_id >= FIRST_SEND + SENDS)
		return; /* a request of the exercise's own */
	completed[wc->wr_id] = true;
	came[wc->wr_id] = *wc;
}

/* In both: has the NIC said so, and only once? */
static void must_be_ours(uint64_t wr_id)
{
	if (wr_id >= FIRST_SEND + (uint64_t)sends ||
	    (wr_id >= (uint64_t)receives && wr_id < FIRST_SEND))
		die("there is no request %llu", (unsigned long long)wr_id);
	about("request %d", (int)wr_id);
	if (!completed[wr_id])
		wrong("its completion did not come yet");
	if (back[wr_id])
		wrong("it was delivered or given back before");
	back[wr_id] = true;
}

static bool has_message(uint64_t wr_id)
{
	return wr_id < RECEIVES && came[wr_id].status == IBV_WC_SUCCESS;
}

void deliver(uint64_t wr_id, uint32_t len)
{
	must_be_ours(wr_id);
	if (wr_id >= FIRST_SEND)
		wrong("a SEND is delivered like a message");
	if (!has_message(wr_id))
		wrong("its status is no success: there is no message");
	if (len != came[wr_id].byte_len)
		wrong("its byte_len is %u", came[wr_id].byte_len);
	if (in[wr_id][0] != 'a' + delivered)
		wrong("another message was expected now");
	delivered++;
}

void give_back(uint64_t wr_id)
{
	must_be_ours(wr_id);
	if (has_message(wr_id))
		wrong("its message is lost");
}

static void wait_for_event(void)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(d.you.channel, &cq, &context))
		die("the judge's ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* The peer has receives for so many SENDs: with one, the last completion is that of
 * a SEND (rxe flushes the receives first); with all, that of a receive. */
static void end_one(int sent)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED,
				    .num_sge = 1 };
	int left = receives + sends;

	memset(completed, 0, sizeof completed);
	memset(back, 0, sizeof back);
	delivered = 0;
	duo_open(&d, (struct ibv_qp_cap){ .max_send_wr = SENDS,
					  .max_recv_wr = RECEIVES });
	d.you.rnr_retry =
		7; /* a SEND waits for its receive as long as we like */
	duo_connect(&d, 0, 0);
	struct ibv_mr *mr = open_memory(&d.you, in, sizeof in);
	struct ibv_mr *out_mr = open_memory(&d.you, out, sizeof out);
	struct ibv_mr *theirs = open_memory(&d.peer, text, sizeof text);

	for (int i = 0; i < receives; i++)
		add_receive(&d.you, (uint64_t)i, in[i], LEN, mr);
	for (int i = 0; i < MESSAGES; i++) {
		text[0] = (char)('a' + i);
		outcome(&d.peer, send, text, (size_t)(LEN - i), theirs);
	}
	for (int i = 0; i < sends; i++) {
		struct ibv_sge sge = piece(out[i], LEN, out_mr);

		send.sg_list = &sge;
		send.wr_id = FIRST_SEND + (uint64_t)i;
		if (i >= sent) {
			post(&d.you, &send);
			continue;
		}
		add_receive(&d.peer, 0, text, LEN, theirs);
		int rc = ibv_req_notify_cq(d.you.cq, 0);
		if (rc)
			die_err(rc, "the judge's ibv_req_notify_cq");
		post(&d.you, &send);
		wait_for_event(); /* its completion is in the CQ */
		wait_wc(&d.peer); /* and that of its receive */
	}
	/* A message that is too long for its receive: an error, and not flushed. */
	if (sent == sends)
		outcome(&d.peer, send, text, sizeof text, theirs);

	watch(&d.you, NULL);
	watch(&d.you,
	      &(struct watch){ .looks = looks,
			       .lets_find = sent < sends ? lets_find : NULL,
			       .found = found });
	drain(d.you.qp, d.you.cq, receives, sends);
	about("%s", "");
	for (int i = 0; i < FIRST_SEND + SENDS; i++)
		if (completed[i] && !back[i])
			die("request %d: its completion came, and you did "
			    "nothing with it",
			    i);
	for (int i = 0; i < FIRST_SEND + SENDS; i++)
		left -= back[i];
	if (left && seen.in_vain)
		wrong("it returned when the CQ was empty, and the NIC holds "
		      "buffers");
	if (left)
		wrong("it returned, and the NIC holds %d buffers%s", left,
		      sent == sends ? ": all SENDs were done" : "");
}

void judge(void)
{
	receives = RECEIVES;
	sends = SENDS;
	end_one(1);
	receives = 4;
	sends = 2;
	end_one(2); /* here a look finds all that there is */
}
