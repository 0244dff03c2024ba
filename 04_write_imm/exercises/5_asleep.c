/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.5 - extend: told while asleep                  *** 45 minutes
 *
 * Chunks come by WRITE_WITH_IMM, and between them messages about the progress.
 * The immediate is as in exercise 4.1: 4 bits type, 28 bits value (the mask VALUE),
 * in network order.
 *
 *   DATA      chunk number "value" is in place: call arrived(value)
 *   PROGRESS  the sender is done with "value" percent: call progress(value)
 *   STOP      that was all; "value" chunks were planned, from number 0, none twice;
 *             the sender may have left some out
 *
 * A type that you do not know is no error: take the message, and do nothing.
 *
 * Write receive(). It returns after STOP: how many chunks are missing. It does
 * not look again and again: it sleeps in ibv_get_cq_event() while nothing comes.
 *
 * - poll_one(ep, &wc) looks once: true if it took a completion.
 * - ibv_req_notify_cq(ep->cq, 0) asks for an event for the next completion, and
 *   only for one that comes after the call.
 * - ibv_get_cq_event(ep->channel, ...) sleeps until that event. It has no deadline,
 *   and here no poll(2) in front of it: the judge sends when you call it. An event
 *   may stand for many completions. Acknowledge each event with ibv_ack_cq_events().
 * - Each message takes a receive. Four are posted: post one again for each message.
 *
 * The judge is the sender. It calls receive() once and compares your calls of
 * arrived() and progress(), which it has. Messages come at bad moments, too: after
 * your last look at the CQ and before you sleep.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "5_asleep.h"

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* The next completion. */
static struct ibv_wc next(struct ep *ep)
{
	struct ibv_wc wc;

	while (!poll_one(ep, &wc)) /* TODO 4.5: it looks again and again */
		;
	return wc;
}

int receive(struct ep *ep)
{
	for (;;) {
		struct ibv_wc wc = next(ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("message: %s", ibv_wc_status_str(wc.status));
		post_receive(ep);
		uint32_t word = ntohl(wc.imm_data);

		arrived(word & VALUE); /* TODO 4.5: not every word is DATA */
	}
}
