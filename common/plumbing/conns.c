/* SPDX-License-Identifier: MIT */
/*
 * common/plumbing/conns.c - clients that come and go: see conns.h.
 *
 * Each wait is one poll(2) for all of them. What a client has sent is taken when
 * it is there, whole; what is not there yet is looked for next time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conns.h"

enum { SLOW_MS = 10 };

void conns_open(struct conns *s, const struct ep *base)
{
	*s = (struct conns){
		.base = *base,
		.fd = tcp_listen(base->opt),
		.alone = now_ms(),
	};
	/* Who has gone since poll() must not make accept() wait (man 2 accept). */
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

/* A client that has gone is noticed later: here it does not matter. */
static void tell(const struct conn *c, const void *bytes, size_t n)
{
	(void)!send(c->ep.sock, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void conn_answer(const struct conn *c)
{
	struct qp_info info = own_info(&c->ep);
	uint8_t msg[INFO_LEN];

	info_pack(msg, &info, c->ep.opt->lesson);
	tell(c, msg, sizeof msg);
}

/* To ERROR: what it had posted is flushed. */
static void close_conn(struct conn *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int rc = c->ep.qp ? ibv_modify_qp(c->ep.qp, &attr, IBV_QP_STATE) : 0;

	if (rc)
		die_err(rc, "ibv_modify_qp to ERROR");
	shutdown(c->ep.sock, SHUT_RDWR);
	c->closed = true;
	c->unseen = c->ep.cq ? c->ep.cq->cqe : 0;
}

void conn_lose(struct conns *s, struct conn *c, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	if (c->closed)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	say("client %d loses its connection: %s", c->number, why);
	s->lost++;
	close_conn(c);
}

static void remove_conn(struct conns *s, struct conn *c)
{
	int rc = c->ep.qp ? ibv_destroy_qp(c->ep.qp) : 0;

	if (rc)
		die_err(rc, "ibv_destroy_qp");
	close(c->ep.sock);
	*c = (struct conn){ .number = 0 };
	if (--s->here == 0)
		s->alone = now_ms();
}

/* Less than n bytes wake nobody (man 7 socket); the end does. */
static void wake_at(const struct conn *c, int n)
{
	setsockopt(c->ep.sock, SOL_SOCKET, SO_RCVLOWAT, &n, sizeof n);
}

static void let_in(struct conns *s, int place)
{
	struct conn *c = &s->conn[place];
	int fd = accept(s->fd, NULL, NULL);

	if (fd == -1)
		return;
	*c = (struct conn){
		.ep = s->base,
		.place = place,
		.number = ++s->accepted,
		.heard = now_ms(),
	};
	c->ep.sock = fd;
	wake_at(c, INFO_LEN);
	s->here++;
}

/* Takes the QP info only when it is whole. */
static void first_message(struct conns *s, struct conn *c, bool hung_up,
			  const struct service *does)
{
	uint8_t msg[INFO_LEN];
	ssize_t n = recv(c->ep.sock, msg, sizeof msg, MSG_PEEK | MSG_DONTWAIT);
	struct qp_info info;
	char what[80];

	if (n == sizeof msg) {
		(void)!recv(c->ep.sock, msg, sizeof msg, MSG_DONTWAIT);
		wake_at(c, 1);
		c->known = true;
		c->heard = now_ms();
		if (info_unpack(msg, &info, c->ep.opt->lesson, what))
			does->welcome(c, &info);
		else
			conn_lose(s, c, "QP info from the peer: %s", what);
	} else if (hung_up && n > 0) {
		conn_lose(s, c, "waiting for QP info: the peer hung up");
	} else if (hung_up) {
		note("a connection ended before it sent anything: still "
		     "waiting");
		remove_conn(s, c);
	}
}

/* Later there is one byte, and then the end. */
static void later_byte(struct conns *s, struct conn *c)
{
	char byte = 0;
	ssize_t n = recv(c->ep.sock, &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && byte == 'B' && !c->goodbye) {
		c->goodbye = true;
		c->heard = now_ms();
		tell(c, "B", 1);
	} else if (n <= 0 && c->goodbye) {
		s->goodbyes++;
		close_conn(c);
	} else if (n <= 0) {
		/* A completion may know why, and know it better: first all
		 * that are in the CQ now. */
		c->why = "barrier: the peer hung up";
		c->unseen = c->ep.cq ? c->ep.cq->cqe : 0;
	} else {
		conn_lose(s, c, "barrier: the peer sent byte %d, not %s", byte,
			  c->goodbye ? "the end" : "'B'");
	}
}

/* Whoever is new, has sent something, hung up, or keeps silent. */
static void look_at_sockets(struct conns *s, const struct service *does)
{
	struct pollfd p[MAX_CONNS + 1];
	double now = now_ms(), heard = s->alone;
	double limit = s->base.opt->wait_s * 1e3;
	int free = -1;

	/* poll() leaves out what is negative. */
	for (int i = 0; i < MAX_CONNS; i++) {
		const struct conn *c = &s->conn[i];
		bool open = c->number && !c->closed && !c->why;

		p[i].fd = open ? c->ep.sock : -1;
		p[i].events = POLLIN | POLLRDHUP;
		if (!c->number)
			free = i;
		else if (c->heard > heard)
			heard = c->heard;
	}
	p[MAX_CONNS].fd = free == -1 ? -1 : s->fd;
	p[MAX_CONNS].events = POLLIN;
	/* Spin at first; then leave the CPU to others, 1 ms at a time. */
	if (poll(p, MAX_CONNS + 1, now - heard < 2 ? 0 : 1) < 0)
		die_err(errno, "poll");
	if (p[MAX_CONNS].revents)
		let_in(s, free);
	for (int i = 0; i < MAX_CONNS; i++) {
		struct conn *c = &s->conn[i];
		short found = p[i].revents;

		if (p[i].fd == -1)
			continue;
		if (!c->known && found)
			first_message(s, c, found & ~POLLIN, does);
		else if (found)
			later_byte(s, c);
		/* Who waits for us is not silent. */
		else if (c->holds == 0 && s->seen - c->heard > limit)
			conn_lose(s, c, "waiting for %s: nothing within %d s",
				  c->known ? "a command" : "QP info",
				  s->base.opt->wait_s);
	}
}

/* Until when have we seen all that clients had sent? If a pwrite() took long, their next
 * commands are in the CQ. */
static void look_back(struct conns *s, bool empty)
{
	if (!empty && s->unseen > 0)
		return;
	s->seen = s->mark; /* all that was in the CQ then */
	s->mark = now_ms();
	s->unseen = s->base.cq->cqe;
}

/* One completion was polled, or the CQ is empty: a client that hung up is lost when
 * all that was in the CQ before was seen, and its QP goes when nothing of it is left. */
static void look_at_closed(struct conns *s, bool empty)
{
	for (struct conn *c = s->conn; c < s->conn + MAX_CONNS; c++) {
		if (!c->number || (!c->closed && !c->why))
			continue;
		c->unseen = empty || c->unseen < 1 ? 0 : c->unseen - 1;
		if (c->unseen > 0)
			continue;
		if (!c->closed)
			conn_lose(s, c, "%s", c->why);
		else if (c->holds == 0)
			remove_conn(s, c);
	}
}

static struct conn *conn_of(struct conns *s, uint32_t qpn)
{
	for (struct conn *c = s->conn; c < s->conn + MAX_CONNS; c++)
		if (c->ep.qp && c->ep.qp->qp_num == qpn)
			return c;
	return NULL;
}

void conns_serve(struct conns *s, bool stay, const struct service *does)
{
	const double limit = s->base.opt->wait_s * 1e3;
	double now = now_ms(), looked = now;
	struct ibv_wc wc;

	for (unsigned turn = 1;; turn++) {
		int n = ibv_poll_cq(s->base.cq, 1, &wc);

		if (n < 0)
			die("ibv_poll_cq returned %d", n);
		if (n > 0) {
			struct conn *c = conn_of(s, wc.qp_num);

			now = now_ms();
			if (c)
				c->heard = now;
			s->unseen--;
			does->completed(c, &wc);
		}
		does->turn();
		look_at_closed(s, n == 0);
		/* A look at the CQ costs no system call, and others do not wait
		 * long for 64 of them: unless the disk is slow. */
		if (turn % 64 != 0 && now - looked < SLOW_MS)
			continue;
		look_back(s, n == 0);
		/* The alarm of parse_args() is for a program that hangs. A server
		 * goes on for as long as it comes by here. */
		now = looked = now_ms();
		if (now - s->alarm_set > 1e3) {
			alarm(10 * (unsigned)s->base.opt->wait_s);
			s->alarm_set = now;
		}
		look_at_sockets(s, does);
		if (s->here > 0)
			continue;
		bool late = now - s->alone > limit;
		if (s->goodbyes + s->lost > 0 && (late || !stay))
			return;
		if (late)
			die("waiting for a client: nothing within %d s",
			    s->base.opt->wait_s);
	}
}
