/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/queue_one_sided.solution.c - a solution of project 3 that is one-sided.
 *
 * The server lends an array of slots and sleeps. A slot is one word, so that one
 * compare-and-swap does all of a put or of a take, and a client that is killed leaves
 * nothing half done. An item that was taken and not printed yet is lost then.
 *
 * Places are counted from 0 and never again: place p is slot p % capacity in its round
 * p / capacity. The slot has the round in its upper half, and the item in its lower
 * half. 0 there means that nobody has put one.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

enum { CLIENTS = 8, MAX_CAPACITY = 1024 };
static uint64_t
	slots[MAX_CAPACITY]; /* the server's, or what a client has READ */

/* ---- the server ---------------------------------------------------------- */

static struct ep conns[CLIENTS]; /* pd is NULL: free */

static void leave(struct ep *c)
{
	if (c->qp && ibv_destroy_qp(c->qp))
		die("ibv_destroy_qp");
	close(c->sock);
	*c = (struct ep){ .pd = NULL };
}

static void welcome(struct ep *c, struct ibv_mr *mr)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
					 .send_cq = c->cq,
					 .recv_cq = c->cq,
					 .cap = { 1, 1, 1, 1, 0 } };
	const struct timeval limit = { .tv_sec = c->opt->wait_s };
	uint8_t msg[INFO_LEN];
	struct qp_info info;
	char why[80];

	setsockopt(c->sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	if (recv(c->sock, msg, sizeof msg, MSG_WAITALL) != sizeof msg ||
	    !info_unpack(msg, &info, c->opt->lesson, why)) {
		leave(c);
		return;
	}
	c->qp = ibv_create_qp(c->pd, &init);
	if (!c->qp)
		die_err(errno, "ibv_create_qp");
	if (qp_connect(c, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		       &info)) {
		leave(c);
		return;
	}
	info = own_info(c);
	info.addr = (uintptr_t)mr->addr;
	info.len = mr->length;
	info.rkey = mr->rkey;
	info_pack(msg, &info, c->opt->lesson);
	(void)!send(c->sock, msg, sizeof msg, MSG_NOSIGNAL);
}

static void serve(const struct options *opt, int capacity)
{
	struct ep base = ep_open_device(opt, CLIENTS);
	size_t size = (size_t)capacity * sizeof slots[0];
	struct ibv_mr *mr =
		ibv_reg_mr(base.pd, slots, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	int listener = tcp_listen(opt);
	char byte;

	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (;;) {
		struct pollfd p[CLIENTS + 1];
		struct ep *free = NULL;

		for (int i = 0; i < CLIENTS; i++) {
			bool open = conns[i].pd;

			p[i] = (struct pollfd){ open ? conns[i].sock : -1,
						POLLIN, 0 };
			if (!open)
				free = &conns[i];
		}
		p[CLIENTS] = (struct pollfd){ free ? listener : -1, POLLIN, 0 };
		if (poll(p, CLIENTS + 1, -1) < 0)
			die_err(errno, "poll");
		for (int i = 0; i < CLIENTS; i++)
			if (p[i].revents && recv(p[i].fd, &byte, 1, 0) == 1)
				(void)!send(p[i].fd, &byte, 1, MSG_NOSIGNAL);
			else if (p[i].revents)
				leave(&conns[i]);
		if (free && p[CLIENTS].revents) {
			*free = base;
			free->sock = accept(listener, NULL, NULL);
			welcome(free, mr);
		}
	}
}

/* ---- the client ---------------------------------------------------------- */

static struct ibv_mr *mr, *old_mr; /* of slots and old */
static uint64_t old;               /* what compare-and-swap has found */
static struct qp_info lent;
static unsigned capacity;

static void read_slots(struct ep *ep)
{
	struct ibv_sge sge = { (uintptr_t)slots, (uint32_t)lent.len, mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .wr.rdma = { lent.addr, lent.rkey } };

	post(ep, &wr);
	expect_completion(ep, "RDMA_READ");
}

static bool swap(struct ep *ep, unsigned i, uint64_t from, uint64_t to)
{
	struct ibv_sge sge = { (uintptr_t)&old, sizeof old, old_mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .wr.atomic = {
					  .remote_addr = lent.addr +
							 i * sizeof slots[0],
					  .compare_add = from,
					  .swap = to,
					  .rkey = lent.rkey,
				  } };

	post(ep, &wr);
	expect_completion(ep, "compare-and-swap");
	return old == from;
}

/*
 * The first place with an item, and the first without. The slots may have changed while
 * they were READ: then a place that seems to be the first may not be. But if the item is
 * before the free place, and the free place at most a round behind it, all places in
 * between were as they should be.
 */
static bool look(struct ep *ep, uint64_t *item, uint64_t *gap)
{
	*item = *gap = UINT64_MAX;
	read_slots(ep);
	for (unsigned i = 0; i < capacity; i++) {
		uint64_t place = (slots[i] >> 32) * capacity + i;
		uint64_t *first = (uint32_t)slots[i] ? item : gap;

		if (place < *first)
			*first = place;
	}
	return *item == UINT64_MAX || *gap == UINT64_MAX ||
	       (*item < *gap && *gap < *item + capacity);
}

/* Puts the value, or takes one if it is 0. Returns the item. */
static uint32_t operate(struct ep *ep, uint32_t value)
{
	for (useconds_t pause = 1000;;) {
		uint64_t item, gap, place;

		if (!look(ep, &item, &gap))
			continue;
		place = value ? gap : item;
		if (place == UINT64_MAX) { /* full, or empty */
			usleep(pause);
			pause = pause < 32000 ? pause * 2 : 50000;
			continue;
		}
		unsigned i = (unsigned)(place % capacity);
		uint64_t round = slots[i] & ~0xffffffffULL;
		uint64_t to = value ? round | value : round + (1ULL << 32);
		uint32_t taken = (uint32_t)slots[i];

		if (swap(ep, i, slots[i], to))
			return value ? value : taken;
	}
}

static void be_client(const struct options *opt)
{
	struct ep ep = ep_open(opt, (struct ibv_qp_cap){ 0 });
	char line[64];

	ep.timeout = 17; /* an ACK between two busy machines may be late */
	mr = ibv_reg_mr(ep.pd, slots, sizeof slots, IBV_ACCESS_LOCAL_WRITE);
	old_mr = ibv_reg_mr(ep.pd, &old, sizeof old, IBV_ACCESS_LOCAL_WRITE);
	if (!mr || !old_mr)
		die_err(errno, "ibv_reg_mr");
	tcp_connect(&ep);
	qp_to_init(&ep, 0);
	send_info(&ep, NULL);
	lent = recv_info(&ep, sizeof slots[0]);
	if (lent.len > sizeof slots)
		die("the server lends more than %d slots", MAX_CAPACITY);
	capacity = (unsigned)(lent.len / sizeof slots[0]);
	qp_to_rtr(&ep, &lent);
	qp_to_rts(&ep);
	while (fgets(line, sizeof line, stdin)) {
		if (strncmp(line, "put ", 4) == 0) {
			operate(&ep, (uint32_t)strtoul(line + 4, NULL, 10));
			printf("ok\n");
		} else {
			printf("%u\n", operate(&ep, 0));
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *limit = getenv("DEADLINE");
	struct options opt = { .dev = getenv("DEVICE"), .ib_port = 1 };

	opt.wait_s = limit ? (int)strtol(limit, NULL, 10) : 6;
	if (argc != 4)
		die("usage: server PORT CAPACITY, or client HOST PORT");
	opt.role = argv[1];
	if (strcmp(opt.role, "client") == 0) {
		opt.host = argv[2];
		opt.tcp_port = argv[3];
		be_client(&opt);
	} else {
		long size = strtol(argv[3], NULL, 10);

		if (size < 1 || size > MAX_CAPACITY)
			die("a capacity from 1 to %d", MAX_CAPACITY);
		opt.tcp_port = argv[2];
		serve(&opt, (int)size);
	}
	return 0;
}
