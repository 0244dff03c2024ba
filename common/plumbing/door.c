/* SPDX-License-Identifier: MIT */
/*
 * common/plumbing/door.c - clients that come and go: see door.h.
 *
 * Each wait is one poll(2) for all of them. What a client has sent is taken when
 * it is there, whole; what is not there yet is looked for next time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door.h"

void door_open(struct door *d, const struct ep *base)
{
	*d = (struct door){
		.base = *base,
		.fd = tcp_listen(base->opt),
		.alone = now_ms(),
	};
}

/* One that is gone shows as such later: here it does not matter. */
static void tell(const struct guest *g, const void *bytes, size_t n)
{
	(void)!send(g->ep.sock, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void door_answer(const struct guest *g)
{
	struct qp_info info = own_info(&g->ep);
	uint8_t msg[INFO_LEN];

	info_pack(msg, &info, g->ep.opt->lesson);
	tell(g, msg, sizeof msg);
}

void door_lose(struct guest *g)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (g->ep.qp)
		ibv_modify_qp(g->ep.qp, &attr, IBV_QP_STATE);
	shutdown(g->ep.sock, SHUT_RDWR);
	g->gone = true;
}

struct guest *door_guest(struct door *d, uint32_t qpn)
{
	for (struct guest *g = d->guest; g < d->guest + GUESTS; g++)
		if (g->ep.qp && g->ep.qp->qp_num == qpn)
			return g;
	return NULL;
}

static void remove_guest(struct door *d, struct guest *g)
{
	int rc = g->ep.qp ? ibv_destroy_qp(g->ep.qp) : 0;

	if (rc)
		die_err(rc, "ibv_destroy_qp");
	close(g->ep.sock);
	*g = (struct guest){ .number = 0 };
	if (--d->here == 0)
		d->alone = now_ms();
}

void door_sweep(struct door *d)
{
	for (struct guest *g = d->guest; g < d->guest + GUESTS; g++)
		if (g->number && g->gone && g->holds == 0)
			remove_guest(d, g);
}

static void let_in(struct door *d, struct guest *g)
{
	int fd = accept(d->fd, NULL, NULL);

	if (fd == -1)
		return;
	*g = (struct guest){
		.ep = d->base,
		.number = ++d->came,
		.heard = now_ms(),
	};
	g->ep.sock = fd;
	d->here++;
}

/* Takes the message only when it is whole. */
static enum news first_words(struct door *d, struct guest *g, bool hung_up,
			     struct qp_info *info, char why[128])
{
	uint8_t msg[INFO_LEN];
	ssize_t n = recv(g->ep.sock, msg, sizeof msg, MSG_PEEK | MSG_DONTWAIT);
	char what[80];

	if (n == sizeof msg) {
		(void)!recv(g->ep.sock, msg, sizeof msg, MSG_DONTWAIT);
		g->known = true;
		if (info_unpack(msg, info, g->ep.opt->lesson, what))
			return CAME;
		snprintf(why, 128, "QP info from the peer: %s", what);
		return LOST;
	}
	if (!hung_up)
		return NO_NEWS;
	if (n > 0) {
		snprintf(why, 128, "waiting for QP info: the peer hung up");
		return LOST;
	}
	note("a connection ended before it sent anything: still waiting");
	d->came--;
	remove_guest(d, g);
	return NO_NEWS;
}

/* Later there is one word, and then the end. */
static enum news last_words(struct guest *g, char why[128])
{
	char byte = 0;
	ssize_t n = recv(g->ep.sock, &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NO_NEWS;
	if (n == 1 && byte == 'B' && !g->goodbye) {
		g->goodbye = true;
		tell(g, "B", 1);
		return NO_NEWS;
	}
	if (n <= 0 && g->goodbye) {
		door_lose(g);
		return NO_NEWS;
	}
	if (n <= 0)
		snprintf(why, 128, "barrier: the peer hung up");
	else
		snprintf(why, 128, "barrier: the peer sent byte %d, not 'B'",
			 byte);
	return LOST;
}

enum news door_news(struct door *d, int *who, struct qp_info *info,
		    char why[128])
{
	struct pollfd p[GUESTS + 1];
	struct guest *place = NULL;
	int limit = d->base.opt->wait_s;
	double now = now_ms(), heard = d->alone;

	/* The alarm of parse_args() is for a program that hangs. A server goes on
	 * for as long as it comes by here. */
	if (now - d->alarm_set > 1e3) {
		alarm(10 * (unsigned)limit);
		d->alarm_set = now;
	}
	/* poll() leaves out what is negative. */
	for (int i = 0; i < GUESTS; i++) {
		struct guest *g = &d->guest[i];
		bool there = g->number && !g->gone;

		p[i].fd = there ? g->ep.sock : -1;
		p[i].events = POLLIN | POLLRDHUP;
		if (!g->number)
			place = g;
		else if (g->heard > heard)
			heard = g->heard;
	}
	p[GUESTS].fd = place ? d->fd : -1;
	p[GUESTS].events = POLLIN;
	/* Spin at first, then leave the CPU to others, 1 ms at a time. */
	if (poll(p, GUESTS + 1, now - heard < 2 ? 0 : 1) < 0)
		die_err(errno, "poll");
	if (p[GUESTS].revents)
		let_in(d, place);
	for (*who = 0; *who < GUESTS; ++*who) {
		struct guest *g = &d->guest[*who];
		short found = p[*who].revents;
		enum news news = NO_NEWS;

		if (p[*who].fd == -1)
			continue;
		if (!g->known && found)
			news = first_words(d, g, found & ~POLLIN, info, why);
		else if (found)
			news = last_words(g, why);
		if (news != NO_NEWS)
			return news;
		if (g->number && !g->gone && now - g->heard > limit * 1e3) {
			snprintf(why, 128,
				 "waiting for %s: nothing within %d s",
				 g->known ? "a command" : "QP info", limit);
			return LOST;
		}
	}
	if (d->here > 0 || now - d->alone <= limit * 1e3)
		return NO_NEWS;
	if (d->came == 0)
		die("waiting for a client: nothing within %d s", limit);
	return NOBODY;
}

void door_serve(struct door *d, bool open,
		void (*completed)(const struct ibv_wc *),
		void (*welcome)(struct guest *, const struct qp_info *),
		void (*lose)(struct guest *, const char *, const char *))
{
	enum news news = NO_NEWS;
	struct qp_info peer;
	struct ibv_wc wc;
	char why[128];
	int who;

	for (unsigned turn = 1; news != NOBODY; turn++) {
		int n = ibv_poll_cq(d->base.cq, 1, &wc);

		if (n < 0)
			die("ibv_poll_cq returned %d", n);
		if (n > 0)
			completed(&wc);
		if (turn % 64 != 0) /* a look at the CQ costs no system call */
			continue;
		if (n == 0)
			door_sweep(d);
		news = door_news(d, &who, &peer, why);
		/* It hung up: a completion may know why, and know it better. */
		while (news == LOST && ibv_poll_cq(d->base.cq, 1, &wc) > 0)
			completed(&wc);
		if (news == CAME)
			welcome(&d->guest[who], &peer);
		else if (news == LOST)
			lose(&d->guest[who], why, "");
		else if (!open && d->came && !d->here)
			return;
	}
}
