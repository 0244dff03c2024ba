/* SPDX-License-Identifier: MIT */
/*
 * judges/11_rdma_cm/1_states.c - the states of two QPs that the CM connects.
 *
 * before: accepted is UNANSWERED: choose one, then run it
 * hint1: As long as no request fails, a QP of a program is moved by ibv_modify_qp
 * hint1: in that program, and by nobody else. So in which of your calls can it
 * hint1: happen?
 * hint1.zh: 只要没有请求失败，切换本程序 QP 的就只有本程序里的
 * hint1.zh: ibv_modify_qp。那么它可能发生在你的哪些调用里？
 * hint2: The kernel's CM only tells the library. Does any call after rdma_accept
 * hint2: move the server's QP? Which call of the library does the client make
 * hint2: after the answer, and before ESTABLISHED?
 * hint2.zh: 内核的 CM 只通知库。rdma_accept 之后，还有哪个调用切换服务
 * hint2.zh: 端的 QP？应答到达之后、ESTABLISHED 之前，客户端还调用了库的
 * hint2.zh: 哪个函数？
 * gives away: inside rdma_get_cm_event
 * gives away: is still RTS
 * gives away: REJECTED moves
 */
#include "ends.h"

#include "1_states.h"

static int state_of(const struct side *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int rc = ibv_query_qp(s->id->qp, &attr, IBV_QP_STATE, &init);

	if (rc)
		die_err(rc, "the judge's ibv_query_qp");
	return (int)attr.qp_state;
}

static void must_be_state(int answer, const char *name)
{
	one_of(name, answer,
	       (const int[]){ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
			      IBV_QPS_RTS, IBV_QPS_ERR },
	       5);
}

void judge(void)
{
	struct rdma_conn_param param = { .initiator_depth = 1 };

	must_be_state(accepted, "accepted");
	must_be_state(unread, "unread");
	must_be_state(hung_up, "hung_up");
	must_be_state(refused, "refused");
	ends_open();

	resolve(&you);
	must(rdma_connect(you.id, &param), "rdma_connect");
	next_request(&peer);
	accept_it(&peer, NULL, 0);
	check_answer(accepted, state_of(&peer),
		     "accepted: which later call could move it");
	(void)event_within(you.channel, MS);
	check_answer(unread, state_of(&you),
		     "unread: in which call the library can do it");
	await(you.channel, RDMA_CM_EVENT_ESTABLISHED);
	await(peer.channel, RDMA_CM_EVENT_ESTABLISHED);
	must(rdma_disconnect(you.id), "rdma_disconnect");
	await(peer.channel, RDMA_CM_EVENT_DISCONNECTED);
	check_answer(hung_up, state_of(&peer),
		     "hung_up: why the peer must disconnect, too");
	must(rdma_disconnect(peer.id), "rdma_disconnect");
	await(you.channel, RDMA_CM_EVENT_DISCONNECTED);

	resolve(&you);
	must(rdma_connect(you.id, &param), "rdma_connect");
	next_request(&peer);
	must(rdma_reject(peer.id, NULL, 0), "rdma_reject");
	await(you.channel, RDMA_CM_EVENT_REJECTED);
	check_answer(refused, state_of(&you),
		     "refused: what becomes of receives that were posted");
}
