/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.1 - predict: which sends show up in the CQ?
 * side: client
 *
 * Two of the four sends of act 1 are SIGNALED here. Before you run it, write
 * down the wr_ids that the CQ will show, in order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

static char out[DEPTH][MSG_MAX];
static int posted; /* requests, by all calls of post() */

enum { N_PREDICTED = 0 };              /* TODO 1.1: how many ... */
static const int predicted[4] = { 0 }; /* ... and of which sends? */

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc) /* the error itself is returned, not put into errno */
		die_err(rc, "ibv_post_send");
	for (; list; list = list->next)
		posted++;
}

/* Send wr_id is done, and with it all that were posted before it: a send
 * queue works in order. */
static void expect_completion(struct ep *ep, int wr_id)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("SEND: %s", ibv_wc_status_str(wc.status));
	if (wc.wr_id != (uint64_t)wr_id)
		die("completion of send %d, not %d", (int)wc.wr_id, wr_id);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = 64,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	/* 0: our NIC only reads these buffers, and that is always allowed. */
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, out, sizeof out, 0);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, 0);
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep); /* both sides are at least RTR: now we may send */

	/* DOC: one-list. Act 1: four work requests, linked, one call. Which of
	 * them are SIGNALED? */
	memcpy(out[0], TEXT, strlen(TEXT));
	memset(out[1], 'L', MSG_MAX);
	struct ibv_sge text = {
		.addr = (uintptr_t)out[0],
		.length = (uint32_t)strlen(TEXT),
		.lkey = mr->lkey,
	};
	struct ibv_sge long_one = {
		.addr = (uintptr_t)out[1],
		.length = MSG_MAX,
		.lkey = mr->lkey,
	};
	/* SIGNALED: a completion for us. SOLICITED: an event for the server,
	 * should it be asleep; it means nothing to one that polls, as ours. */
	unsigned loud = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	struct ibv_send_wr wr[4] = {
		{ .wr_id = 1,
		  .opcode = IBV_WR_SEND,
		  .sg_list = &text,
		  .num_sge = 1,
		  .next = &wr[1] },
		{ .wr_id = 2,
		  .opcode = IBV_WR_SEND, /* of nothing */
		  .send_flags = IBV_SEND_SIGNALED,
		  .next = &wr[2] },
		{ .wr_id = 3,
		  .opcode = IBV_WR_SEND,
		  .sg_list = &long_one,
		  .num_sge = 1,
		  .next = &wr[3] },
		{ .wr_id = 4,
		  .opcode = IBV_WR_SEND_WITH_IMM,
		  .send_flags = loud,
		  .imm_data = htonl(IMM), /* travels in network order */
		  .sg_list = &text,
		  .num_sge = 1 },
	};
	post(&ep, wr);
	int shown[4], n = 0, newest = 0;
	while (newest != 4 && n < 4) { /* when the last is done, all are */
		struct ibv_wc wc = wait_wc(&ep);
		if (wc.status != IBV_WC_SUCCESS)
			die("SEND: %s", ibv_wc_status_str(wc.status));
		newest = (int)wc.wr_id;
		shown[n++] = newest;
	}
	if (n != N_PREDICTED)
		die("predicted %d completions, the CQ showed %d", N_PREDICTED,
		    n);
	for (int i = 0; i < n; i++)
		if (shown[i] != predicted[i])
			die("predicted that completion %d is of send %d, "
			    "not %d",
			    i + 1, predicted[i], shown[i]);
	say("4 sends posted as one list, completions as predicted");

	/* DOC: inline. Act 2: the server has no receive left, so this message
	 * is not accepted yet. INLINE copied it while it was being posted: the
	 * buffer is ours at once, without a completion. */
	memcpy(out[0], INLINE_TEXT, strlen(INLINE_TEXT));
	text.length = (uint32_t)strlen(INLINE_TEXT);
	struct ibv_send_wr inl = {
		.wr_id = 5,
		.opcode = IBV_WR_SEND,
		.send_flags = loud | IBV_SEND_INLINE,
		.sg_list = &text,
		.num_sge = 1,
	};
	double start = now_ms();
	post(&ep, &inl);
	memset(out[0], '#', MSG_MAX); /* scribble over it */
	barrier(&ep);                 /* now let the server get ready */
	expect_completion(&ep, 5);
	note("the INLINE send completed after %.0f ms", now_ms() - start);
	say("INLINE: posted, scribbled over, accepted");

	/* DOC: selective. Act 3: a stream of unsignaled sends. A buffer may be
	 * reused only after a *later* signaled send has completed; one in
	 * DEPTH is enough, since we have DEPTH buffers. */
	for (int i = 0; i < STREAM; i++) {
		bool last = i % DEPTH == DEPTH - 1;
		struct ibv_sge sge = {
			.addr = (uintptr_t)out[i % DEPTH],
			.length = (uint32_t)stream_message(i, out[i % DEPTH]),
			.lkey = mr->lkey,
		};
		struct ibv_send_wr send = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_SEND,
			.send_flags = last ? loud : 0,
			.sg_list = &sge,
			.num_sge = 1,
		};
		post(&ep, &send);
		if (last) {
			expect_completion(&ep, i);
			/* Accepted is not consumed. That DEPTH receives are
			 * posted again, only the server can say: our credit
			 * for the next DEPTH messages. */
			barrier(&ep);
		}
	}

	/* The end: the server looks whether one more has come. We count, since
	 * an unsignaled send too many would make no completion here. */
	barrier(&ep);
	if (posted != 5 + STREAM)
		die("%d sends posted, not %d", posted, 5 + STREAM);
	struct ibv_wc wc;
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("a completion that nobody asked for");
	say("PASS %d sends accepted, %d completions asked for and no more",
	    posted, 3 + STREAM / DEPTH);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
