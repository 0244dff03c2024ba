/* SPDX-License-Identifier: MIT */
/*
 * judges/01_send_recv/3_sleep.c - messages that come at bad moments.
 *
 * before: message 1: you sleep, and the CQ is not armed
 * hint1: A message comes after your last look at the CQ, and before you
 * hint1: arm it. Does it make an event? Who would find it?
 * hint1.zh: 你最后一次查看 CQ 之后、请求通知之前，来了一条消息。这条消息会产生
 * hint1.zh: 完成事件吗？谁会发现它？
 * hint2: Look, arm, look again, and only then sleep. After the event
 * hint2: begin with the first look. man ibv_get_cq_event has an example.
 * hint2.zh: 查看，请求通知，再查看；都没有，才休眠。收到事件之后，从第一次查看
 * hint2.zh: 重新开始。man ibv_get_cq_event 里有例子。
 */
#include <errno.h>
#include <poll.h>

#include "3_sleep.h"
#include "fails.h"
#include "library.h"

enum { BATCH = 4, LOOKS = 1000 };
/* When a batch comes: in a call that the function makes, on every machine. */
enum { ASLEEP, BEFORE_ARMING, AFTER_ARMING, ASLEEP_AGAIN, BATCHES };

static struct duo d;
static int message, moment; /* that is asked for, and when it comes */
static int sent;
static bool armed;
static bool cannot_arm; /* in a child */

static bool event_within(int ms)
{
	struct pollfd p = { .fd = d.you.channel->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void send_batch(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }; /* of nothing */

	do {
		if (++sent % BATCH == 0)
			send.send_flags = IBV_SEND_SOLICITED;
		add_receive(&d.you, (uint64_t)sent, NULL, 0, NULL);
		execute(&d.peer, send);
	} while (sent % BATCH != 0);
	event_within(armed ? 2000 : 0); /* it may come a little later */
}

static void looks(void)
{
	if (moment == AFTER_ARMING && armed && sent < message)
		send_batch();
	if (seen.in_vain <= LOOKS)
		return;
	if (cannot_arm)
		_exit(0);
	wrong("you look at the empty CQ again and again");
}

static void arms(bool solicited_only)
{
	if (!solicited_only)
		wrong("you armed the CQ for every message, not for SOLICITED");
	if (moment == BEFORE_ARMING && sent < message)
		send_batch();
	armed = true;
}

/* Before the library's own, which it calls: this is the moment to fall asleep. */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **context)
{
	int (*get)(struct ibv_comp_channel *, struct ibv_cq **, void **);

	if (cannot_arm)
		_exit(0);
	if (!event_within(0)) {
		if (!armed)
			wrong("you sleep, and the CQ is not armed");
		if (sent >= message)
			wrong("you sleep, and it came before you armed the CQ");
		send_batch();
	}
	armed = false;
	*(void **)&get = library("ibv_get_cq_event");
	return get(channel, cq, context);
}

void sleep_until_event(struct ep *ep)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(ep->channel, &cq, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

static int refuses_to_arm(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return EINVAL;
}

/* With devices of its own: a child may not use those of its parent. */
static void sleep_unarmed(void)
{
	struct ibv_wc wc;

	duo_up(&d);
	d.you.ctx->ops.req_notify_cq = refuses_to_arm;
	cannot_arm = true;
	watch(&d.you, &(struct watch){ .looks = looks });
	next_message(&d.you, &wc);
}

void judge(void)
{
	bool ends = fails(sleep_unarmed); /* armed never before */

	duo_up(&d);
	watch(&d.you, &(struct watch){ .looks = looks, .arms = arms });
	for (message = 1; message <= BATCHES * BATCH; message++) {
		struct ibv_wc wc = { .wr_id = 0 };

		about("message %d", message);
		moment = (message - 1) / BATCH;
		next_message(&d.you, &wc);
		if (wc.wr_id != (uint64_t)message)
			wrong("next_message() returned without it");
	}
	about("%s", "");
	if (!ends)
		wrong("ibv_req_notify_cq fails, and you did not end the "
		      "program");
}
