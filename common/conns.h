/* SPDX-License-Identifier: MIT */
/*
 * common/conns.h - for a server whose clients come and go.
 *
 * Each client has a connection: a TCP socket and a QP. Device, PD and CQ are shared.
 * Nothing here waits for one client, and nothing that one client does ends the
 * program. (plumbing/conns.c)
 *
 * Interface:
 * * conns_open(), once. Then conns_serve(), which calls the server's functions.
 * * The server adds to `holds` while it has something of a client: a command, or a
 *   request on its QP. So the QP stays, and the client is not taken for silent.
 * * conn_lose() for a client that broke a rule; conns.c calls it for those that
 *   hang up without barrier(), or keep silent.
 */
#ifndef CONNS_H
#define CONNS_H

#include "common.h"

enum { MAX_CONNS = 4 }; /* at once; others wait in the listening queue */
struct conn {
	struct ep ep;   /* ep.qp is the server's to make; NULL: not yet */
	int place;      /* its index, for what the server keeps of it */
	int number;     /* of the client, from 1; 0: this place is free */
	unsigned holds; /* what the server has of it */
	bool known;     /* its QP info was here */
	bool goodbye;   /* it has called barrier() */
	bool closed;    /* it ended, or was lost */
	double heard;   /* when it last sent or completed something, now_ms() */
	const char *why; /* it hung up, and completions may say more */
	int unseen;      /* completions of it that the CQ may still have */
};
struct conns {
	struct ep base;     /* from ep_open_device() */
	int fd;             /* listens */
	int accepted, here; /* connections; those that are open */
	int goodbyes, lost; /* how the others ended */
	double alone;       /* when the last client left, now_ms() */
	double alarm_set;   /* when alarm() was called last, now_ms() */
	double seen;        /* what came before was polled, now_ms() */
	double mark;        /* all of it is polled after `unseen` completions */
	int unseen;
	struct conn conn[MAX_CONNS];
};

/* What the server does with it. */
struct service {
	/* Makes c->ep.qp, connects it, and calls conn_answer(). */
	void (*welcome)(struct conn *c, const struct qp_info *peer);
	/* c is NULL if the QP is destroyed: a receive that it took. */
	void (*completed)(struct conn *c, const struct ibv_wc *wc);
	/* Each turn: for what ends without a completion. */
	void (*turn)(void);
};

void conns_open(struct conns *s, const struct ep *base);
/*
 * Until all clients have left; with `stay`, until none came for wait_s (-t). If no
 * client came at all, this ends the program.
 */
void conns_serve(struct conns *s, bool stay, const struct service *does);
void conn_answer(const struct conn *c);
/* Says why. The QP goes to state ERROR, so that all it has to do completes; the TCP
 * connection ends, so that the client is told. */
void conn_lose(struct conns *s, struct conn *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
