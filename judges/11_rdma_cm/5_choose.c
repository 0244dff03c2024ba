/* SPDX-License-Identifier: MIT */
/*
 * judges/11_rdma_cm/5_choose.c - three ways to get to know each other, tried.
 *
 * before: one_region is UNANSWERED: choose one, then run it
 * hint1: How often does something of the server have to arrive before the client
 * hint1: knows all it needs? And what fits into it?
 * hint1.zh: 服务端的东西要到达几次，客户端才知道所需的一切？每次能装下
 * hint1.zh: 多少？
 * hint2: 40 times 20 bytes. What does rdma_resolve_addr begin with?
 * hint2.zh: 40 个 20 字节。rdma_resolve_addr 一开始做什么？
 */
#include "ends.h"
#include "wire.h"

#include "5_choose.h"

enum { DELAY = 60, MESSAGE = 800 };

static uint8_t message[MESSAGE], came[MESSAGE];

/* The ms from the request until the client has len bytes of the server, or -1: it cannot
 * have them so. */
static double takes(int way, size_t len)
{
	struct rdma_conn_param param = { .initiator_depth = 1,
					 .retry_count = 6,
					 .rnr_retry_count = 7 };
	bool in_answer = way == CM_PRIVATE_DATA;
	struct ibv_recv_wr *bad_receive, receive = { .num_sge = 1 };
	struct ibv_send_wr *bad, send = { .opcode = IBV_WR_SEND, .num_sge = 1 };
	struct ibv_sge to_here, from_there;
	struct ibv_wc wc;
	int rc;

	if (in_answer && len > 196)
		return -1;
	resolve(&you);
	to_here = piece(
		came, MESSAGE,
		ibv_reg_mr(you.id->pd, came, MESSAGE, IBV_ACCESS_LOCAL_WRITE));
	receive.sg_list = &to_here;
	rc = ibv_post_recv(you.id->qp, &receive, &bad_receive);
	if (rc)
		die_err(rc, "the judge's ibv_post_recv");
	double since = now_ms();
	must(rdma_connect(you.id, &param), "rdma_connect");
	next_request(&peer);
	accept_it(&peer, message, in_answer ? (uint8_t)len : 0);
	await(you.channel, RDMA_CM_EVENT_ESTABLISHED);
	double ms = now_ms() - since;
	await(peer.channel, RDMA_CM_EVENT_ESTABLISHED);
	if (in_answer)
		return ms;
	from_there = piece(message, len,
			   ibv_reg_mr(peer.id->pd, message, MESSAGE, 0));
	send.sg_list = &from_there;
	rc = ibv_post_send(peer.id->qp, &send, &bad);
	if (rc)
		die_err(rc, "the judge's ibv_post_send");
	double sent = now_ms();
	while (ibv_poll_cq(you.cq, 1, &wc) == 0)
		if (now_ms() - sent > MS)
			die("the server's message does not come");
	return now_ms() - since;
}

/* An address that no RDMA port has. */
static bool resolves_without(void)
{
	struct sockaddr_in none = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	none.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, RFC 5737 */
	must(rdma_create_id(you.channel, &id, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	return rdma_bind_addr(id, (struct sockaddr *)&none) == 0;
}

static void try_regions(const char *name, int way, size_t len)
{
	about("%s", name);
	if (way == TCP_EXCHANGE && len == MESSAGE)
		wrong("the server opens no TCP port");
	if (way == TCP_EXCHANGE)
		wrong("it works; but TCP makes a trip for its own connection "
		      "before the first byte of the exchange");
	double ms = takes(way, len);
	if (ms < 0)
		wrong("%zu bytes do not fit into an answer", len);
	if (way == CM_THEN_SEND && len <= 196)
		wrong("it works, and took %s: the server's message waits for "
		      "the client's RTU",
		      ms >= 2 * DELAY ? "two delays" : "longer");
}

void judge(void)
{
	must_choose(one_region, TCP_EXCHANGE, CM_THEN_SEND, CM_PRIVATE_DATA);
	must_choose(forty_regions, TCP_EXCHANGE, CM_THEN_SEND, CM_PRIVATE_DATA);
	must_choose(no_address, TCP_EXCHANGE, CM_THEN_SEND, CM_PRIVATE_DATA);
	ends_open();
	late_answers(&d, DELAY);
	try_regions("one_region", one_region, 20);
	try_regions("forty_regions", forty_regions, MESSAGE);
	wire_free();
	about("no_address");
	if (no_address != TCP_EXCHANGE && !resolves_without())
		wrong("the CM finds no device with that IP address");
}
