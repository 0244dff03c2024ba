/* SPDX-License-Identifier: MIT */
/*
 * tests/rude.c - clients of lesson 09 that do not keep to the rules; for
 * tests/block-store.
 *
 * usage: rude CASE [options of the lessons]
 *
 * Ends with PASS when the server has hung up, which it must.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../09_block_store/ask.h"
#include "post.h"

enum { MANY = 30 };

static uint8_t commands[MANY][COMMAND_LEN], replies[MANY][REPLY_LEN];
static struct ep ep;
static struct ibv_mr *mr, *in;

/* n messages of len bytes each, from commands[] on, as one list. */
static void send_list(int n, uint32_t len)
{
	struct ibv_send_wr wr[MANY];
	struct ibv_sge sge[MANY];

	for (int i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)commands[i], len,
					   mr->lkey };
		wr[i] = (struct ibv_send_wr){
			.opcode = IBV_WR_SEND,
			.sg_list = &sge[i],
			.num_sge = 1,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
		};
	}
	post(&ep, wr);
}

static void hear(int n)
{
	for (int i = 0; i < n; i++) {
		struct ibv_sge sge = { (uintptr_t)replies[i], sizeof replies[i],
				       in->lkey };
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
		int rc = ibv_post_recv(ep.qp, &wr, &bad);

		if (rc)
			die_err(rc, "ibv_post_recv");
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	const char *what = argv[1];
	struct options opt = parse_args(argc - 1, argv + 1, "client", LESSON);
	struct ibv_qp_cap cap = { MANY, MANY, 1, 1, 0 };

	ep = ep_open(&opt, cap);
	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, commands, sizeof commands, 0);
	in = ibv_reg_mr(ep.pd, replies, sizeof replies, IBV_ACCESS_LOCAL_WRITE);
	if (!mr || !in)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, 0);
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	for (int i = 0; i < MANY; i++)
		command_pack(commands[i],
			     &(struct command){ .operation = OP_FLUSH,
						.tag = (uint32_t)i % TAGS });

	if (strcmp(what, "long") == 0) {
		send_list(1, sizeof commands[0] + 1);
	} else if (strcmp(what, "short") == 0) {
		send_list(1, 10);
	} else if (strcmp(what, "empty") == 0) {
		send_list(1, 0);
	} else if (strcmp(what, "greedy") == 0) { /* and no receive */
		send_list(MANY, sizeof commands[0]);
	} else if (strcmp(what, "deaf") == 0) {
		send_list(1, sizeof commands[0]);
	} else if (strcmp(what, "word") == 0) { /* on TCP, and twice goodbye */
		tcp_send(&ep, "B", 1, "goodbye");
		tcp_send(&ep, "B", 1, "goodbye");
	} else if (strcmp(what, "no-right") == 0) {
		/* No REMOTE_READ for the connection nor for the region. */
		hear(MANY);
		command_pack(commands[0], &(struct command){
						  .operation = OP_WRITE,
						  .count = 1,
						  .rkey = mr->rkey,
						  .addr = (uintptr_t)commands,
					  });
		send_list(1, sizeof commands[0]);
	} else if (strcmp(what, "vanish") == 0) {
		send_list(TAGS, sizeof commands[0]);
		_exit(0);
	} else {
		die("no case \"%s\"", what);
	}

	struct pollfd p = { .fd = ep.sock, .events = POLLIN };
	char bytes[16];
	double end = now_ms() + opt.wait_s * 1e3;
	while (now_ms() < end && poll(&p, 1, 100) >= 0)
		if (p.revents && recv(ep.sock, bytes, sizeof bytes, 0) <= 0) {
			say("PASS %s: the server hung up", what);
			return 0;
		}
	die("%s: the server does not hang up", what);
}
