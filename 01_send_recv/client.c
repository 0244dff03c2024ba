/* SPDX-License-Identifier: MIT */
/*
 * 01_send_recv/client.c - send messages: learn only that they were accepted.
 *
 * A send says what to send, never where to put it. Its completion means that
 * the server's NIC acknowledged the whole message, and so that the buffer is
 * ours again. It does not mean that the server's program has looked at it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

static char out[DEPTH][MSG_MAX];
static int posted; /* requests, by all calls of post() */

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc) /* the error itself is returned, not put into errno */
		die_err(rc, "ibv_post_send");
	for (; list; list = list->next)
		posted++;
}

/* One completion, which must be a success. Returns its wr_id: this request is done, and
 * all that were posted before it, too, because a send queue works in order. */
static uint64_t expect_completion(struct ep *ep, const char *what)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
	return wc.wr_id;
}

static void expect_send(struct ep *ep, int wr_id)
{
	uint64_t done = expect_completion(ep, "SEND");

	if (done != (uint64_t)wr_id)
		die("completion of send %d, not %d", (int)done, wr_id);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH,
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

	/* DOC: one-list. Act 1: four work requests, linked, one call. Only the
	 * last is SIGNALED, so only it will complete visibly. */
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
	/* Two flags, for two programs. SIGNALED is for us: this send makes a
	 * completion in our CQ. SOLICITED is for the server: this message wakes
	 * it, if it sleeps until a solicited message comes (exercise 1.3). This
	 * server polls, and does not notice it. */
	struct ibv_send_wr wr[4] = {
		{ .wr_id = 1,
		  .opcode = IBV_WR_SEND,
		  .sg_list = &text,
		  .num_sge = 1,
		  .next = &wr[1] },
		{ .wr_id = 2,
		  .opcode = IBV_WR_SEND, /* of nothing */
		  .next = &wr[2] },
		{ .wr_id = 3,
		  .opcode = IBV_WR_SEND,
		  .sg_list = &long_one,
		  .num_sge = 1,
		  .next = &wr[3] },
		{ .wr_id = 4,
		  .opcode = IBV_WR_SEND_WITH_IMM,
		  .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		  .imm_data = htonl(IMM), /* travels in network order */
		  .sg_list = &text,
		  .num_sge = 1 },
	};
	post(&ep, wr);
	expect_send(&ep, 4);
	say("4 sends posted as one list, 1 completion: all were accepted");

	/* DOC: inline. Act 2: the server has no receive left, so this message
	 * is not accepted yet. INLINE copied it while it was being posted: the
	 * buffer is ours at once, without a completion. */
	memcpy(out[0], INLINE_TEXT, strlen(INLINE_TEXT));
	text.length = (uint32_t)strlen(INLINE_TEXT);
	struct ibv_send_wr inl = {
		.wr_id = 5,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
			      IBV_SEND_INLINE,
		.sg_list = &text,
		.num_sge = 1,
	};
	double start = now_ms();
	post(&ep, &inl);
	memset(out[0], '#', MSG_MAX); /* write over it */
	barrier(&ep);                 /* now let the server get ready */
	expect_send(&ep, 5);
	note("the INLINE send completed after %.0f ms", now_ms() - start);
	say("INLINE: posted, buffer overwritten, accepted");
	barrier(&ep); /* the server has posted that receive again */

	/* DOC: selective. Act 3: a stream of unsignaled sends. A buffer may be
	 * reused only after a *later* signaled send has completed; one in
	 * DEPTH is enough, since we have DEPTH buffers. */
	for (int i = 0; i < STREAM; i++) {
		bool last = i % DEPTH == DEPTH - 1;
		unsigned signaled = last ? IBV_SEND_SIGNALED : 0;
		unsigned solicited = last ? IBV_SEND_SOLICITED : 0;
		struct ibv_sge sge = {
			.addr = (uintptr_t)out[i % DEPTH],
			.length = (uint32_t)stream_message(i, out[i % DEPTH]),
			.lkey = mr->lkey,
		};
		struct ibv_send_wr send = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_SEND,
			.send_flags = signaled | solicited,
			.sg_list = &sge,
			.num_sge = 1,
		};
		post(&ep, &send);
		if (last) {
			expect_send(&ep, i);
			/* Accepted is not read. That DEPTH receives are
			 * posted again, only the server can say: then we may
			 * send the next DEPTH messages. */
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
		die("unexpected completion in the client's CQ");
	say("PASS %d sends accepted, %d completions asked for and no more",
	    posted, 2 + STREAM / DEPTH);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
