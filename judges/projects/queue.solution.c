/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/queue.solution.c - a solution of project 3, and wrong ones.
 *
 * The server keeps the queue. A client SENDs what it wants, and the server SENDs the
 * answer when it is true: a put waits at the server while the queue is full, a take
 * while it is empty. A consumer prints its item, and only then says DONE. Until then
 * the server holds the item, and puts it back in front if the consumer dies.
 *
 * FAULT=NAME in the environment: a wrong program; tests/project-3 has their names.
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

enum { CLIENTS = 8, RECEIVES = 4, SENDS = 16, MAX_CAPACITY = 1024 };
enum what { PUT = 1, TAKE, DONE, RESERVE, OK, ITEM, NOT_NOW };
struct msg {
	uint32_t what, value; /* in big endian */
};

static bool fault(const char *name)
{
	const char *f = getenv("FAULT");

	return f && strcmp(f, name) == 0;
}

/* ---- messages ------------------------------------------------------------ */

static struct msg received[CLIENTS][RECEIVES];
static struct ibv_mr *mr; /* of received */

static void receive(struct ibv_qp *qp, struct msg *at)
{
	struct ibv_sge sge = { (uintptr_t)at, sizeof *at, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)at,
				  .sg_list = &sge,
				  .num_sge = 1 },
			   *bad;
	int rc = ibv_post_recv(qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

static void receive_all(struct ibv_qp *qp, int place)
{
	for (int i = 0; i < RECEIVES; i++)
		receive(qp, &received[place][i]);
}

/* Inline: the bytes are copied, so that the memory is free at once. */
static void tell(struct ep *ep, enum what what, uint32_t value)
{
	struct msg msg = { htonl(what), htonl(value) };
	struct ibv_sge sge = { (uintptr_t)&msg, sizeof msg, 0 };
	unsigned reap = fault("unsignaled") ? 0 : IBV_SEND_SIGNALED;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_INLINE | reap,
				  .sg_list = &sge,
				  .num_sge = 1 };

	post(ep, &wr);
}

/* The completion event that woke us. */
static void take_event(const struct ep *ep)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(ep->channel, &cq, &context))
		die_err(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

static void register_all(struct ep *ep)
{
	mr = ibv_reg_mr(ep->pd, received, sizeof received,
			IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	if (fault("no-retry"))
		ep->retry_cnt = 0;
	if (fault("no-timeout"))
		ep->timeout = 0;
}

static struct ibv_qp_cap depths(void)
{
	return (struct ibv_qp_cap){
		.max_send_wr = fault("unsignaled") ? 2000 : SENDS,
		.max_recv_wr = RECEIVES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = sizeof(struct msg),
	};
}

/* ---- the queue ----------------------------------------------------------- */

struct item {
	uint32_t value;
	int owner; /* number of the client that put it */
	bool hole; /* only in a wrong program */
};
static struct item items[MAX_CAPACITY];
static int capacity, first, filled, held;

static struct conn {
	struct ep ep;     /* ep.qp is NULL before its QP info is here */
	int number;       /* of the client, from 1; 0: this place is free */
	enum what wants;  /* what it waits for; 0: nothing */
	unsigned turn;    /* who waits longest has the smallest */
	uint32_t value;   /* what it puts */
	bool holds;       /* it was given an item, and did not say DONE */
	struct item item; /* that one */
} conns[CLIENTS];
static unsigned turns;

static void put_back(struct item item)
{
	first = (first + capacity - 1) % capacity;
	items[first] = item;
	filled++;
}

static void append(struct item item)
{
	int at = first + filled;

	if (fault("front") && item.owner > 2) {
		put_back(item);
		return;
	}
	if (fault("lifo")) {
		put_back(item);
		return;
	}
	if (at >= capacity)
		at = fault("wrap") ? 0 : at - capacity;
	items[at] = item;
	filled++;
}

static struct item remove_first(void)
{
	struct item item = items[first];

	first = (first + 1) % capacity;
	filled--;
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
	int room = capacity + fault("one-more");

	if (room > MAX_CAPACITY)
		room = MAX_CAPACITY;
	for (;;) {
		if (filled && !items[first].hole && (c = longest(true))) {
			struct item item = remove_first();

			c->wants = 0;
			c->item = item;
			c->holds = !fault("lose");
			held += c->holds;
			if (c->ep.qp)
				tell(&c->ep, ITEM, item.value);
		} else if (filled + held < room && (c = longest(false))) {
			append((struct item){ c->value, c->number,
					      c->wants == RESERVE });
			c->wants = 0;
			tell(&c->ep, OK, 0);
		} else {
			return;
		}
	}
}

static void fill_hole(struct conn *c, uint32_t value)
{
	for (int i = 0; i < filled; i++) {
		struct item *item = &items[(first + i) % capacity];

		if (item->owner == c->number && item->hole) {
			item->hole = false;
			item->value = value;
			break;
		}
	}
	tell(&c->ep, OK, 0);
}

/* ---- the server ---------------------------------------------------------- */

static void leave(struct conn *c)
{
	if (c->wants && fault("fragile"))
		die("a client died while it waited");
	if (c->ep.qp && ibv_destroy_qp(c->ep.qp))
		die("ibv_destroy_qp");
	close(c->ep.sock);
	for (int n = fault("forget") ? filled : 0; n > 0; n--) {
		struct item item = remove_first();

		if (item.owner != c->number)
			append(item);
	}
	if (c->holds && !fault("keep")) {
		held--;
		put_back(c->item);
	}
	if (fault("ghost") || fault("places"))
		c->ep.qp = NULL, c->ep.sock = -1;
	else
		*c = (struct conn){ .number = 0 };
	settle();
}

static void handle(struct conn *c, const struct ibv_wc *wc)
{
	struct msg *at = (struct msg *)(uintptr_t)wc->wr_id;
	struct msg msg;

	if (wc->status != IBV_WC_SUCCESS) {
		note("client %d: %s", c->number, ibv_wc_status_str(wc->status));
		shutdown(c->ep.sock, SHUT_RDWR); /* and poll() tells us */
		return;
	}
	if (wc->opcode != IBV_WC_RECV)
		return;
	msg = (struct msg){ ntohl(at->what), ntohl(at->value) };
	receive(c->ep.qp, at);
	if (fault("16-bits"))
		msg.value &= 0xffff;
	if (msg.what == DONE) {
		held -= c->holds;
		c->holds = false;
	} else if (msg.what == PUT && fault("reserve")) {
		fill_hole(c, msg.value);
	} else {
		c->wants = msg.what;
		c->value = msg.value;
		c->turn = ++turns;
	}
	settle();
	if (c->wants && fault("ask-again")) {
		c->wants = 0;
		tell(&c->ep, NOT_NOW, 0);
	}
}

static void collect(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		for (struct conn *c = conns; c < conns + CLIENTS; c++)
			if (c->number && c->ep.qp &&
			    c->ep.qp->qp_num == wc.qp_num)
				handle(c, &wc);
}

/* The first bytes of a client are its QP info. What comes later is its end. */
static void hear(struct conn *c)
{
	uint8_t msg[INFO_LEN];
	char why[80];
	struct qp_info info;
	ssize_t n = recv(c->ep.sock, msg, sizeof msg, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 || (n > 0 && n < INFO_LEN && !c->ep.qp))
		n = errno == EAGAIN || n > 0;
	else if (n > 0)
		(void)!recv(c->ep.sock, msg, sizeof msg, 0);
	if (n == 0) {
		collect(c->ep.cq); /* what it did before it left */
		leave(c);
	}
	if (n < INFO_LEN || c->ep.qp)
		return;
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
					 .send_cq = c->ep.cq,
					 .recv_cq = c->ep.cq,
					 .cap = depths() };
	if (!info_unpack(msg, &info, c->ep.opt->lesson, why)) {
		note("client %d: QP info: %s", c->number, why);
		leave(c);
		return;
	}
	c->ep.qp = ibv_create_qp(c->ep.pd, &init);
	if (!c->ep.qp)
		die_err(errno, "ibv_create_qp");
	if (qp_connect(&c->ep, 0, &info)) {
		leave(c);
		return;
	}
	receive_all(c->ep.qp, (int)(c - conns));
	send_info(&c->ep, NULL);
}

static void serve(const struct options *opt)
{
	struct ep base = ep_open_device(opt, CLIENTS * (SENDS + RECEIVES));
	int listener = tcp_listen(opt), clients = 0;

	register_all(&base);
	for (;;) {
		struct pollfd p[CLIENTS + 2] = {
			[CLIENTS] = { listener, POLLIN, 0 },
			[CLIENTS + 1] = { base.channel->fd, POLLIN, 0 },
		};
		int places = fault("two-clients") ? 2 : CLIENTS, place = -1;

		for (int i = 0; i < CLIENTS; i++) {
			struct conn *c = &conns[i];

			p[i].fd = c->number ? c->ep.sock : -1;
			p[i].events = POLLIN;
			if (!c->number && i < places)
				place = i;
		}
		if (place < 0)
			p[CLIENTS].fd = -1;
		/* Armed first: what comes after this wakes us. */
		if (ibv_req_notify_cq(base.cq, 0))
			die("ibv_req_notify_cq");
		collect(base.cq);
		if (poll(p, CLIENTS + 2, fault("spin") ? 0 : -1) < 0)
			die_err(errno, "poll");
		if (p[CLIENTS + 1].revents)
			take_event(&base);
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].revents)
				hear(&conns[i]);
		if (p[CLIENTS].revents && !conns[place].number) {
			conns[place].ep = base;
			conns[place].ep.sock = accept(listener, NULL, NULL);
			conns[place].number = ++clients;
		}
	}
}

/* ---- the client ---------------------------------------------------------- */

static int unfinished; /* SENDs without a completion */

/* Sleeps until there is a completion. If it is of a receive: true, and the message. */
static bool next(struct ep *ep, struct msg *msg)
{
	struct ibv_wc wc;

	for (;;) {
		struct pollfd p[2] = { { ep->sock, POLLIN, 0 },
				       { ep->channel->fd, POLLIN, 0 } };

		if (ibv_poll_cq(ep->cq, 1, &wc) > 0)
			break;
		if (ibv_req_notify_cq(ep->cq, 0))
			die("ibv_req_notify_cq");
		if (ibv_poll_cq(ep->cq, 1, &wc) > 0)
			break;
		if (poll(p, 2, -1) < 0)
			die_err(errno, "poll");
		if (p[1].revents)
			take_event(ep);
		else
			die("the server has gone");
	}
	if (wc.status != IBV_WC_SUCCESS)
		die("%s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV) {
		unfinished--;
		return false;
	}
	struct msg *at = (struct msg *)(uintptr_t)wc.wr_id;
	*msg = (struct msg){ ntohl(at->what), ntohl(at->value) };
	receive(ep->qp, at);
	return true;
}

static uint32_t ask(struct ep *ep, enum what what, uint32_t value)
{
	struct msg msg;

	do {
		tell(ep, what, value);
		unfinished++;
		while (!next(ep, &msg))
			;
	} while (msg.what == NOT_NOW && usleep(2000) == 0);
	return msg.value;
}

static void be_client(const struct options *opt)
{
	struct ep ep = ep_open(opt, depths());
	char line[64];
	struct msg msg;

	register_all(&ep);
	tcp_connect(&ep);
	qp_to_init(&ep, 0);
	receive_all(ep.qp, 0);
	send_info(&ep, NULL);
	struct qp_info peer = recv_info(&ep, 0);
	qp_to_rtr(&ep, &peer);
	qp_to_rts(&ep);
	while (fgets(line, sizeof line, stdin)) {
		uint32_t value;

		if (fault("slow"))
			usleep(12000);
		if (strncmp(line, "put ", 4) == 0) {
			value = (uint32_t)strtoul(line + 4, NULL, 10);
			if (fault("reserve"))
				ask(&ep, RESERVE, 0);
			ask(&ep, PUT, value);
			printf("ok\n");
			fflush(stdout);
		} else if (strcmp(line, "take\n") == 0) {
			value = ask(&ep, TAKE, 0);
			printf("%u\n", value);
			fflush(stdout);
			tell(&ep, DONE, 0);
			unfinished++;
		} else {
			die("no such operation: %s", line);
		}
	}
	while (unfinished && !fault("unsignaled"))
		next(&ep, &msg);
	if (fault("stay"))
		pause();
}

int main(int argc, char **argv)
{
	bool server = argc == 4 && strcmp(argv[1], "server") == 0;
	struct options opt = { .role = argv[argc > 1],
			       .host = server ? NULL : argv[argc > 2 ? 2 : 0],
			       .tcp_port = argv[argc - (server ? 2 : 1)],
			       .dev = getenv("DEVICE"),
			       .ib_port = 1,
			       .gid_index = 0 };
	const char *limit = getenv("DEADLINE");

	opt.wait_s = limit ? (int)strtol(limit, NULL, 10) : 6;
	if (argc != 4)
		die("usage: server PORT CAPACITY, or client HOST PORT");
	capacity = (int)strtol(argv[3], NULL, 10);
	if (!server)
		be_client(&opt);
	else if (capacity < 1 || capacity > MAX_CAPACITY)
		die("a capacity from 1 to %d", MAX_CAPACITY);
	else
		serve(&opt);
	return 0;
}
