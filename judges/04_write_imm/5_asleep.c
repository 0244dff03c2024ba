/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/5_asleep.c - messages at the worst moments: when you ask
 * for an event, just before or after that is done, or when you fall asleep.
 *
 * before: you look at the empty CQ again and again
 * hint1: A message may come after your last look and before
 * hint1: ibv_req_notify_cq(). Will it wake you? What must you do between
 * hint1: that call and ibv_get_cq_event()?
 * hint1.zh: 消息可能在你最后一次查看之后、ibv_req_notify_cq() 之前到来。它会唤
 * hint1.zh: 醒你吗？在这次调用和 ibv_get_cq_event() 之间，必须做什么？
 * hint2: next(): look. If there is nothing, ask for an event, and look
 * hint2: again. Only if there is still nothing, sleep, acknowledge the
 * hint2: event, and begin again. receive(): a switch over word >> 28;
 * hint2: count DATA, and subtract at STOP.
 * hint2.zh: next()：查看。没有，就请求通知，再查看一次。仍然没有，才休眠；醒来
 * hint2.zh: 后确认事件，从头再来。receive()：对 word >> 28 用 switch；是 DATA
 * hint2.zh: 就计数，是 STOP 就相减。
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "5_asleep.h"
#include "library.h"

const char *an_error_ends_it = "19";

enum { RECEIVES = 4, UNKNOWN = 9 };
/* GAP: just before you have asked. ASKED: after it. WITH: behind the one before it. */
enum when { ASLEEP, GAP, ASKED, WITH, END };

static const struct {
	enum when when;
	uint32_t type, value;
} messages[] = {
	{ .when = GAP, .type = DATA, .value = 2 },
	{ .when = GAP, .type = DATA, .value = 0 },
	{ .when = ASLEEP, .type = PROGRESS, .value = 40 },
	{ .when = WITH, .type = DATA, .value = 5 },
	{ .when = WITH, .type = DATA, .value = 1 },
	{ .when = ASLEEP, .type = UNKNOWN, .value = 3 },
	{ .when = ASKED, .type = PROGRESS, .value = 90 },
	{ .when = ASLEEP, .type = DATA, .value = 6 },
	{ .when = WITH, .type = STOP, .value = 7 },
	{ .when = END, .type = 0, .value = 0 },
};
static const char right[] = " arrived(2) arrived(0) progress(40) arrived(5)"
			    " arrived(1) progress(90) arrived(6)";
static char calls[2 * sizeof right];

static struct duo d;
static int sent; /* messages; their chunks are empty */
static uint32_t events;
static bool asked;
static bool old; /* the last event: of a message that was found before it */

static void send_next(void)
{
	do {
		struct ibv_send_wr tell = {
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.imm_data = htonl(messages[sent].type << 28 |
					  messages[sent].value),
		};

		sent++;
		execute(&d.peer, tell);
	} while (messages[sent].when == WITH);
}

static bool has_event(int ms)
{
	struct pollfd event = { .fd = d.you.channel->fd, .events = POLLIN };

	return poll(&event, 1, ms) == 1;
}

static void compare_calls(void)
{
	if (strcmp(calls, right) != 0)
		wrong("you called%s, and it should be%s",
		      *calls ? calls : " nothing", right);
}

static void after_stop(void)
{
	if (messages[seen.found].when != END || failed)
		return;
	compare_calls();
	wrong("there was STOP, and you look for another message");
}

static void looks(void)
{
	if (seen.in_vain == 200)
		wrong("you look at the empty CQ again and again");
	if (seen.receives > RECEIVES + seen.found)
		wrong("more receives are posted than messages came%s",
		      old ? ": an event, and the CQ was empty" : "");
	if (seen.in_vain > 0) /* one look finds that there is no more */
		after_stop();
	if (asked && messages[sent].when == ASKED && seen.found == sent) {
		send_next();
		has_event(2000); /* it may come a little later */
	}
}

static void arms(bool solicited_only)
{
	if (solicited_only)
		wrong("you ask for events of solicited messages only");
	asked = true;
	if (messages[sent].when == GAP)
		send_next();
}

static void note_call(const char *by, uint32_t value)
{
	size_t n = strlen(calls);

	snprintf(calls + n, sizeof calls - n, " %s(%u)", by, value);
}

void arrived(uint32_t chunk)
{
	note_call("arrived", chunk);
}

void progress(uint32_t percent)
{
	note_call("progress", percent);
}

/* Before the library's own, which it calls. */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **context)
{
	int (*get)(struct ibv_comp_channel *, struct ibv_cq **, void **);

	*(void **)&get = library("ibv_get_cq_event");
	after_stop();
	bool event = has_event(0);
	old = event && seen.found == sent;
	if (!event) { /* you fall asleep */
		if (seen.found < sent)
			wrong("you fall asleep, and message %d is in the queue",
			      seen.found);
		if (seen.receives < RECEIVES + seen.found)
			wrong("you fall asleep, and a receive is not posted "
			      "again");
		if (!asked)
			wrong("message %d: you sleep, and asked for no event",
			      sent);
		send_next();
	}
	asked = false;
	events++;
	return get(channel, cq, context);
}

void judge(void)
{
	static const struct watch eyes = { .looks = looks, .arms = arms };

	duo_up(&d);
	watch(&d.you, &eyes);
	for (int i = 0; i < RECEIVES; i++)
		add_receive(&d.you, 0, NULL, 0, NULL);
	int returned = receive(&d.you);

	if (messages[seen.found].when != END)
		wrong("you returned before STOP");
	compare_calls();
	if (returned != 2)
		wrong("2 chunks are missing, and you returned %d", returned);
	if (seen.receives != RECEIVES + seen.found)
		wrong("%d messages came, and you posted %d receives again",
		      seen.found, seen.receives - RECEIVES);
	if (d.you.cq->comp_events_completed != events)
		wrong("%u of %u events were acknowledged",
		      d.you.cq->comp_events_completed, events);
}
