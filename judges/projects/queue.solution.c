/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/queue.solution.c - a solution of project 3.
 *
 * The server keeps the queue. A client SENDs what it wants, and the server SENDs the
 * answer when it is true: a put waits at the server while the queue is full, a take
 * while it is empty. A consumer prints its item, and only then says DONE. Until then
 * the server holds the item, and puts it back in front if the consumer dies.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

enum { CLIENTS = 8, RECEIVES = 2, SENDS = 16, MAX_CAPACITY = 1024 };
enum what { PUT = 1, TAKE, DONE, OK };
struct msg {
	uint32_t what, value; /* in big endian */
};
static struct msg received[CLIENTS][RECEIVES];
static struct ibv_mr *mr; /* of received */
static struct ibv_qp_cap cap = { SENDS, RECEIVES, 1, 1, sizeof(struct msg) };

/* ---- what both sides need ------------------------------------------------ */

static void prepare(struct ep *ep)
{
	mr = ibv_reg_mr(ep->pd, received, sizeof received,
			IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	ep->timeout = 17; /* an ACK between two busy machines may be late */
}

static void receive(struct ibv_qp *qp, struct msg *at)
{
	struct ibv_sge sge = { (uintptr_t)at, sizeof *at, mr->lkey };
	struct ibv_recv_wr *bad,
		wr = { .wr_id = (uintptr_t)at, .sg_list = &sge, .num_sge = 1 };
	int rc = ibv_post_recv(qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* The message of a completion; the receive is posted again. */
static struct msg read_msg(struct ibv_qp *qp, const struct ibv_wc *wc)
{
	struct msg *at = (struct msg *)(uintptr_t)wc->wr_id;
	struct msg msg = { ntohl(at->what), ntohl(at->value) };

	receive(qp, at);
	return msg;
}

/* Inline, so that the memory is free at once. Solicited: our own completions wake
 * nobody, only those of the peer. */
static void tell(struct ep *ep, enum what what, uint32_t value)
{
	struct msg msg = { htonl(what), htonl(value) };
	struct ibv_sge sge = { (uintptr_t)&msg, sizeof msg, 0 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_INLINE |
						IBV_SEND_SIGNALED |
						IBV_SEND_SOLICITED,
				  .sg_list = &sge,
				  .num_sge = 1 };

	post(ep, &wr);
}

static void arm(struct ibv_cq *cq, int solicited)
{
	int rc = ibv_req_notify_cq(cq, solicited);

	if (rc)
		die_err(rc, "ibv_req_notify_cq");
}

/* Returns when something can be read, or a second is over. The event of a completion,
 * whose descriptor is the first, is taken. */
static void wait_for(struct ep *ep, struct pollfd *p, nfds_t n, int ms)
{
	struct ibv_cq *cq;
	void *context;

	p[0] = (struct pollfd){ ep->channel->fd, POLLIN, 0 };
	if (poll(p, n, ms) < 0)
		die_err(errno, "poll");
	if (!p[0].revents)
		return;
	if (ibv_get_cq_event(ep->channel, &cq, &context))
		die_err(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* ---- the queue ----------------------------------------------------------- */

static uint32_t items[MAX_CAPACITY];
static int capacity, filled, held;

static struct conn {
	struct ep ep;    /* ep.qp is NULL before its QP info is here */
	int number;      /* of the client, from 1; 0: this place is free */
	enum what wants; /* what it waits for; 0: nothing */
	unsigned turn;   /* who waits longest has the smallest */
	uint32_t value;  /* what it puts */
	bool holds;      /* it was given an item, and did not say DONE */
	uint32_t item;   /* that one */
} conns[CLIENTS];
static unsigned turns;

static void insert(uint32_t item, int at)
{
	memmove(&items[at + 1], &items[at],
		(size_t)(filled++ - at) * sizeof items[0]);
	items[at] = item;
}

static uint32_t remove_first(void)
{
	uint32_t item = items[0];

	memmove(items, items + 1, (size_t)--filled * sizeof items[0]);
	return item;
}

/* Whoever has waited longest for that. */
static struct conn *longest(bool takes)
{
	struct conn *found = NULL;

	for (struct conn *c = conns; c < conns + CLIENTS; c++)
		if (c->wants && (c->wants == TAKE) == takes &&
		    (!found || c->turn < found->turn))
			found = c;
	return found;
}

/* Answers all who need not wait any longer. */
static void settle(void)
{
	struct conn *c;

	for (;;) {
		if (filled && (c = longest(true))) {
			c->item = remove_first();
			c->holds = true;
			held++;
			tell(&c->ep, OK, c->item);
		} else if (filled + held < capacity && (c = longest(false))) {
			insert(c->value, filled);
			tell(&c->ep, OK, 0);
		} else {
			return;
		}
		c->wants = 0;
	}
}

/* ---- the server ---------------------------------------------------------- */

static void leave(struct conn *c)
{
	if (c->ep.qp && ibv_destroy_qp(c->ep.qp))
		die("ibv_destroy_qp");
	close(c->ep.sock);
	if (c->holds) {
		held--;
		insert(c->item, 0);
	}
	*c = (struct conn){ .number = 0 };
	settle();
}

static void handle(struct conn *c, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		note("client %d: %s", c->number, ibv_wc_status_str(wc->status));
		shutdown(c->ep.sock, SHUT_RDWR); /* and poll() tells us */
		return;
	}
	if (wc->opcode != IBV_WC_RECV)
		return;
	struct msg msg = read_msg(c->ep.qp, wc);
	/* It is DONE with its last item: any request says that. */
	held -= c->holds;
	c->holds = false;
	if (msg.what != DONE) {
		c->wants = msg.what;
		c->value = msg.value;
		c->turn = ++turns;
	}
	settle();
}

/* At least all that is in the CQ now. True: there may be more, and it is somebody else's
 * turn, or who comes and who leaves would wait as long as the others are busy. */
static bool collect(struct ibv_cq *cq)
{
	int left = cq->cqe;
	struct ibv_wc wc;

	for (; left && ibv_poll_cq(cq, 1, &wc) > 0; left--)
		for (struct conn *c = conns; c < conns + CLIENTS; c++)
			if (c->ep.qp && c->ep.qp->qp_num == wc.qp_num)
				handle(c, &wc);
	return !left;
}

/* True: it is connected. */
static bool welcome(struct conn *c, const uint8_t msg[INFO_LEN])
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
					 .send_cq = c->ep.cq,
					 .recv_cq = c->ep.cq,
					 .cap = cap };
	struct qp_info info;
	char why[80];

	if (!info_unpack(msg, &info, c->ep.opt->lesson, why)) {
		note("client %d: QP info: %s", c->number, why);
		return false;
	}
	c->ep.qp = ibv_create_qp(c->ep.pd, &init);
	if (!c->ep.qp)
		die_err(errno, "ibv_create_qp");
	if (qp_connect(&c->ep, 0, &info))
		return false;
	for (int i = 0; i < RECEIVES; i++)
		receive(c->ep.qp, &received[c - conns][i]);
	info = own_info(&c->ep);
	info_pack((uint8_t *)msg, &info, c->ep.opt->lesson);
	return send(c->ep.sock, msg, INFO_LEN, MSG_NOSIGNAL) == INFO_LEN;
}

/* The first bytes of a client are its QP info. What comes later is its end. */
static void hear(struct conn *c)
{
	uint8_t msg[INFO_LEN];
	ssize_t n = recv(c->ep.sock, msg, sizeof msg, MSG_PEEK);

	if (n > 0 && n < INFO_LEN && !c->ep.qp)
		return;
	if (n == INFO_LEN && !c->ep.qp &&
	    recv(c->ep.sock, msg, sizeof msg, 0) == n && welcome(c, msg))
		return;
	collect(c->ep.cq); /* what it did before it left */
	leave(c);
}

static void serve(const struct options *opt)
{
	struct ep base = ep_open_device(opt, CLIENTS * (SENDS + RECEIVES));
	int listener = tcp_listen(opt), number = 0;

	prepare(&base);
	for (;;) {
		struct pollfd p[CLIENTS + 2] = { { 0 } };
		struct conn *free = NULL;

		for (int i = 0; i < CLIENTS; i++) {
			struct conn *c = &conns[i];

			p[i + 2].fd = c->number ? c->ep.sock : -1;
			p[i + 2].events = POLLIN;
			if (!c->number)
				free = c;
		}
		p[1].fd = free ? listener : -1;
		p[1].events = POLLIN;
		/* Armed first: what comes after this wakes us. */
		arm(base.cq, 1);
		bool more = collect(base.cq);
		wait_for(&base, p, CLIENTS + 2, more ? 0 : 1000);
		for (int i = 0; i < CLIENTS; i++)
			if (p[i + 2].revents)
				hear(&conns[i]);
		if (free && p[1].revents) {
			free->ep = base;
			free->ep.sock = accept(listener, NULL, NULL);
			free->number = ++number;
			/* Half of its QP info wakes nobody. */
			setsockopt(free->ep.sock, SOL_SOCKET, SO_RCVLOWAT,
				   &(int){ INFO_LEN }, sizeof(int));
		}
	}
}

/* ---- the client ---------------------------------------------------------- */

static int unfinished; /* SENDs without a completion */

/* Waits for a completion. If it is of a receive: true, and the message. */
static bool next(struct ep *ep, struct msg *msg, int solicited)
{
	struct pollfd p[2] = { [1] = { ep->sock, POLLIN, 0 } };
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(ep->cq, 1, &wc)) == 0) {
		if (p[1].revents)
			die("the server has gone");
		arm(ep->cq, solicited);
		if ((n = ibv_poll_cq(ep->cq, 1, &wc)) != 0)
			break;
		wait_for(ep, p, 2, 1000);
	}
	if (n < 0)
		die("ibv_poll_cq");
	if (wc.status != IBV_WC_SUCCESS)
		die("%s", ibv_wc_status_str(wc.status));
	if (wc.opcode == IBV_WC_RECV)
		*msg = read_msg(ep->qp, &wc);
	else
		unfinished--;
	return wc.opcode == IBV_WC_RECV;
}

static uint32_t ask(struct ep *ep, enum what what, uint32_t value)
{
	struct msg msg;

	tell(ep, what, value);
	unfinished++;
	while (!next(ep, &msg, 1))
		;
	return msg.value;
}

static void say_done(struct ep *ep)
{
	tell(ep, DONE, 0);
	unfinished++;
}

static void be_client(const struct options *opt)
{
	struct ep ep = ep_open(opt, cap);
	struct pollfd more = { STDIN_FILENO, POLLIN, 0 };
	bool owes = false; /* DONE for the last item */
	char line[64];
	struct msg msg;

	prepare(&ep);
	tcp_connect(&ep);
	qp_to_init(&ep, 0);
	for (int i = 0; i < RECEIVES; i++)
		receive(ep.qp, &received[0][i]);
	send_info(&ep, NULL);
	struct qp_info peer = recv_info(&ep, 0);
	qp_to_rtr(&ep, &peer);
	qp_to_rts(&ep);
	setvbuf(stdin, NULL, _IONBF, 0); /* so that poll() knows */
	for (;;) {
		/* The next request says that, too, if there is one. */
		if (owes && poll(&more, 1, 0) == 0) {
			say_done(&ep);
			owes = false;
		}
		if (!fgets(line, sizeof line, stdin))
			break;
		bool put = strncmp(line, "put ", 4) == 0;

		if (put) {
			ask(&ep, PUT, (uint32_t)strtoul(line + 4, NULL, 10));
			printf("ok\n");
		} else {
			printf("%u\n", ask(&ep, TAKE, 0));
		}
		fflush(stdout);
		owes = !put;
	}
	if (owes)
		say_done(&ep);
	while (unfinished)
		next(&ep, &msg, 0);
}

int main(int argc, char **argv)
{
	bool server = argc == 4 && strcmp(argv[1], "server") == 0;
	const char *limit = getenv("DEADLINE");

	if (argc != 4)
		die("usage: server PORT CAPACITY, or client HOST PORT");
	struct options opt = { .role = argv[1],
			       .host = server ? NULL : argv[2],
			       .tcp_port = argv[server ? 2 : 3],
			       .dev = getenv("DEVICE"),
			       .ib_port = 1,
			       .wait_s = limit ? (int)strtol(limit, NULL, 10)
					       : 6 };
	if (!server)
		be_client(&opt);
	capacity = (int)strtol(argv[3], NULL, 10);
	if (server && (capacity < 1 || capacity > MAX_CAPACITY))
		die("a capacity from 1 to %d", MAX_CAPACITY);
	if (server)
		serve(&opt);
	return 0;
}
