/* SPDX-License-Identifier: MIT */
/*
 * judges/09_block_store/1_what_comes.c - a region without a right, and a queue of
 * receives whose first taker is lost.
 *
 * before: completions is UNANSWERED: choose one, then run it
 * hint1: Which requests of a QP complete, if one of them fails? To which
 * hint1: QP does a receive in a shared queue belong, before it is taken?
 * hint1.zh: 一个请求失败了，这个 QP 的哪些请求会有 CQE？共享队列里的接收请求，
 * hint1.zh: 被取走之前属于哪个 QP？
 * hint2: An error is always told, asked for or not, and what is behind it
 * hint2: is flushed. Compare the server's "DOC: data-then-status", and
 * hint2: break 9f: who takes the next receive?
 * hint2.zh: 错误总会上报，不管有没有要求；排在后面的请求被 flush。对照服务端的
 * hint2.zh: DOC: data-then-status 和反例 9f：下一个接收请求由谁取走？
 * gives away: although it is not signaled
 * gives away: and the SEND behind it
 * gives away: belong to nobody
 * gives away: Two requests complete
 */
#include <errno.h>

#include "1_what_comes.h"

enum { LEN = 4096 };

static char data[LEN], buffer[LEN], message[64];
static struct duo d;

static int
	found_there; /* receives of the client's that completed with success */

/* The server, you, replies to a READ: WRITE, SEND. How many completions? */
static int refused_write(void)
{
	struct ibv_mr *ours = open_memory(&d.you, data, LEN);
	struct ibv_mr *theirs =
		register_memory(&d.peer, buffer, LEN, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *in = register_memory(&d.peer, message, sizeof message,
					    IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = piece(data, LEN, ours), few = piece(data, 8, ours);
	struct ibv_send_wr write =
		request(IBV_WR_RDMA_WRITE, &sge, buffer, theirs);
	struct ibv_send_wr send = request(IBV_WR_SEND, &few, NULL, theirs);
	struct ibv_wc wc;
	int n = 0;

	add_receive(&d.peer, 0, message, sizeof message, in);
	write.next = &send;
	send.send_flags = IBV_SEND_SIGNALED;
	post(&d.you, &write);
	while (n < THREE && completes_within(&d.you, n ? 100 : 2000, &wc))
		n++;
	if (completes_within(&d.peer, 100, &wc))
		found_there += wc.status == IBV_WC_SUCCESS;
	return n;
}

/* A QP at the server's end that takes its receives from srq. */
static struct ep shared_end(struct ep *first, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = first->cq,
		.recv_cq = first->cq,
		.srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ep ep = *first;

	ep.qp = ibv_create_qp(ep.pd, &init);
	if (!ep.qp)
		die_err(errno, "ibv_create_qp");
	return ep;
}

static void join(struct ep *client, struct ep *server)
{
	struct qp_info to = own_info(server), back = own_info(client);

	client->rnr_retry = 1;
	client->min_rnr_timer = server->min_rnr_timer = 12; /* 0.64 ms */
	if (qp_connect(server, 0, &back))
		die("the judge's QP could not be connected");
	to = own_info(server); /* with its new PSN */
	qp_to_init(client, 0);
	qp_to_rtr(client, &to);
	qp_to_rts(client);
}

/* How many messages of n are received? */
static int send_some(struct ep *client, int n)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED };
	int good = 0;

	for (int i = 0; i < n; i++) {
		post(client, &send);
		if (wait_wc(client).status != IBV_WC_SUCCESS)
			break;
		good++;
	}
	return good;
}

/* Eight receives in one queue; the first client takes three, and is lost. */
static int left_for_the_second(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = EIGHT } };
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_recv_wr = 16 };
	struct ep client[2] = { ep_second(&d.you, cap),
				ep_second(&d.you, cap) };
	struct ep first = ep_second(&d.peer, cap), server[2];

	init.attr.max_sge = 1;
	struct ibv_srq *srq = ibv_create_srq(d.peer.pd, &init);
	if (!srq)
		die_err(errno, "ibv_create_srq");
	for (int i = 0; i < EIGHT; i++) {
		struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
		int rc = ibv_post_srq_recv(srq, &wr, &bad);

		if (rc)
			die_err(rc, "the judge's ibv_post_srq_recv");
	}
	for (int i = 0; i < 2; i++) {
		server[i] = shared_end(&first, srq);
		join(&client[i], &server[i]);
	}
	if (send_some(&client[0], THREE) != THREE)
		die("the judge's messages were not received");
	int rc = ibv_modify_qp(server[0].qp, &error, IBV_QP_STATE);
	if (rc)
		die_err(rc, "ibv_modify_qp to ERR");
	return send_some(&client[1], EIGHT + 1);
}

void judge(void)
{
	must_choose(completions, NONE, ONE, TWO, THREE, FIVE, EIGHT);
	must_choose(reply, NONE, ONE, TWO, THREE, FIVE, EIGHT);
	must_choose(left, NONE, ONE, TWO, THREE, FIVE, EIGHT);
	duo_up(&d);
	check_answer(
		completions, refused_write(),
		"completions: what becomes of a request that fails and is not "
		"SIGNALED, and of the request behind it?");
	check_answer(
		reply, found_there,
		"reply: in which state are the two QPs when the SEND's turn "
		"comes?");
	check_answer(left, left_for_the_second(),
		     "left: whose are the receives in the queue?");
}
