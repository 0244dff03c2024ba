/* SPDX-License-Identifier: MIT */
/*
 * judges/00_hello/4_connect.c - two QPs, and what was done to them.
 *
 * before: nothing was sent: the QP of from is in state RESET
 * hint1: Each of the three steps is needed at both ends. Which attributes
 * hint1: come from the other end, and which from its own? Write one function
 * hint1: with two parameters, and call it twice.
 * hint1.zh: 三步切换，两端都要做。哪些属性来自对端，哪些来自本端？写一个带两个
 * hint1.zh: 参数的函数，调用两次。
 * hint2: Lesson 00 has all you need: DOC: init, DOC: receive, DOC: rtr,
 * hint2: DOC: rts, DOC: send, DOC: poll. At RTR the peer gives qp_num, psn,
 * hint2: gid, lid, and perhaps the MTU; sgid_index and port_num are your own.
 * hint2.zh: 第 0 课里都有：DOC: init、DOC: receive、DOC: rtr、DOC: rts、DOC:
 * hint2.zh: send、DOC: poll。切换到 RTR 时，对端给出 qp_num、psn、gid、lid，也
 * hint2.zh: 许还有 MTU；sgid_index 和 port_num 是本端自己的。
 */
#include <errno.h>
#include <string.h>

#include "4_connect.h"
#include "fails.h"
#include "library.h"

enum { ROOM = 4096, TURNS = 2, PATIENCE = 2500 /* ms */ };
enum { MANY = 20000, A_WHILE = 100 /* ms */ };

static struct duo d;
static struct end end[2];  /* what you are told */
static struct end real[2]; /* and what it is */
static char text[ROOM], place[ROOM];
static const char *const names[] = { "from", "to" };
static const char *const states[] = { "RESET", "INIT", "RTR", "RTS",
				      "SQD",   "SQE",  "ERR" };

static struct ibv_qp_attr attributes(const struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	int rc = ibv_query_qp(e->qp, &a,
			      IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_AV |
				      IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
				      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT,
			      &init);
	if (rc)
		die_err(rc, "ibv_query_qp");
	return a;
}

/* From RTS on. */
static void look_at_rts(const struct end *me)
{
	struct ibv_qp_attr a = attributes(me);

	about("the QP of %s", names[me - end]);
	if (a.timeout == 0)
		wrong("timeout 0: it waits for an ACK for ever");
	if (a.retry_cnt == 0)
		wrong("retry_cnt 0: a packet that was lost is not sent again");
	double s = 4.096e-6 * (double)(UINT64_C(1) << a.timeout) *
		   (a.retry_cnt + 1);
	if (s > 60)
		wrong("timeout %d and retry_cnt %d: a lost peer is noticed "
		      "after %.0f s",
		      a.timeout, a.retry_cnt, s);
	if (4 * s < 1) /* a NIC may wait four times as long */
		wrong("timeout %d and retry_cnt %d: after %.1g s a peer that "
		      "is only slow is taken for lost",
		      a.timeout, a.retry_cnt, s);
	if (a.sq_psn != me->psn)
		wrong("sq_psn is not its own first PSN");
	if (a.retry_cnt == 7)
		wrong("retry_cnt 7: rxe tries for ever (a NIC eight times)");
}

/* From RTR on: what it was told, and what it should have been. */
static void look_at(const struct end *me, const struct end *peer)
{
	struct ibv_qp_attr a = attributes(me);
	enum ibv_mtu mtu = me->mtu < peer->mtu ? me->mtu : peer->mtu;

	about("the QP of %s", names[me - end]);
	if (a.qp_state == IBV_QPS_RESET || a.qp_state == IBV_QPS_INIT)
		wrong("in state %s when the message leaves, so it drops the "
		      "message",
		      states[a.qp_state]);
	if (a.dest_qp_num != peer->qp->qp_num)
		wrong("dest_qp_num is not the number of the other QP");
	if (a.rq_psn != peer->psn)
		wrong("rq_psn is not the other end's first PSN");
	if (a.path_mtu > mtu)
		wrong("path_mtu is code %d, and the smaller one is %d",
		      a.path_mtu, mtu);
	if (memcmp(&a.ah_attr.grh.dgid, &peer->gid, sizeof peer->gid) != 0)
		wrong("dgid is not the other end's GID");
	if (a.qp_access_flags & ALL_REMOTE)
		wrong("the peer has rights to our memory");
	if (a.qp_state == IBV_QPS_RTS)
		look_at_rts(me);
}

/* In the lab both ends have the same numbers, so one is told others. */
static void tell(int i, struct end e)
{
	real[i] = end[i] = e;
	end[i].port_num = (uint8_t)(e.port_num + i);
	end[i].lid = (uint16_t)(e.lid + i);
	end[i].gid_index = (uint8_t)(e.gid_index + i);
}

/* Before the library's own, which it calls with the real numbers. */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int);
	struct ibv_qp_attr a = *attr;
	int i = qp == end[1].qp;

	about("the QP of %s", names[i]);
	if ((mask & IBV_QP_PORT) && a.port_num != end[i].port_num)
		wrong("port_num is not its own");
	a.port_num = real[i].port_num;
	if (mask & IBV_QP_AV) {
		/* Whoever is told a LID may do without a GID, as on InfiniBand. */
		if (!a.ah_attr.is_global && end[!i].lid) {
			a.ah_attr.is_global = 1;
			a.ah_attr.grh = (struct ibv_global_route){
				.dgid = real[!i].gid,
				.sgid_index = end[i].gid_index,
				.hop_limit = 64
			};
		}
		if (a.ah_attr.port_num != end[i].port_num)
			wrong("ah_attr.port_num is not its own");
		if (a.ah_attr.grh.sgid_index != end[i].gid_index)
			wrong("sgid_index is not that of its own GID");
		if (a.ah_attr.dlid != end[!i].lid)
			wrong("dlid is not the other end's LID");
		a.ah_attr.port_num = real[i].port_num;
		a.ah_attr.grh.sgid_index = real[i].gid_index;
		a.ah_attr.dlid = real[!i].lid;
	}
	*(void **)&modify = library("ibv_modify_qp");
	int rc = modify(qp, &a, mask);
	return fails_now() ? EINVAL : rc;
}

static uint32_t length; /* of the message */
static int (*poll_op)(struct ibv_cq *, int, struct ibv_wc *);
static int (*send_op)(struct ibv_qp *, struct ibv_send_wr *,
		      struct ibv_send_wr **);
static int (*recv_op)(struct ibv_qp *, struct ibv_recv_wr *,
		      struct ibv_recv_wr **);

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	uint32_t room = 0;

	for (int i = 0; i < wr->num_sge; i++)
		room += wr->sg_list[i].length;
	about("%s", "");
	if (room != length)
		wrong("the receive has room for %u bytes, and len is %u", room,
		      length);
	return recv_op(qp, wr, bad);
}

static void one_message(int sends)
{
	about("%s", "");
	if (sends > 1 || seen.receives > 1)
		wrong("%d SENDs and %d receives for one message", sends,
		      seen.receives);
}

static void posts(const struct ibv_send_wr *wr)
{
	(void)wr;
	one_message(seen.posted + 1);
	for (int i = 0; i < 2; i++)
		look_at(&end[i], &end[!i]);
	about("%s", "");
	if (seen.receives == 0)
		wrong("the message leaves, and no receive is posted");
}

static void looks(void)
{
	about("%s", "");
	if (now_ms() - seen.since < PATIENCE)
		return;
	wrong("it waits for a completion that does not come; %d came",
	      seen.found);
}

/* It may take a while: many looks, or some ms. Who armed the CQ may sleep. */
static bool lets_find(void)
{
	return seen.armed || seen.in_vain >= MANY ||
	       now_ms() - seen.since > A_WHILE;
}

static void found(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		note("a completion says: %s", ibv_wc_status_str(wc->status));
}

static struct end end_of(struct ep *ep, enum ibv_mtu mtu, struct ibv_mr *mr)
{
	return (struct end){
		.qp = ep->qp,
		.cq = ep->cq,
		.mr = mr,
		.port_num = ep->opt->ib_port,
		.lid = ep->lid,
		.gid = ep->gid,
		.gid_index = ep->gid_index,
		.mtu = mtu,
		.psn = ep->psn,
	};
}

static void done(uint32_t len, int turn)
{
	about("%s", "");
	if (seen.posted == 0)
		wrong("nothing was sent: the QP of from is in state %s",
		      states[attributes(&end[0]).qp_state]);
	for (int i = 0; i < 2; i++)
		if (attributes(&end[i]).qp_state != IBV_QPS_RTS)
			wrong("the QP of %s is in state %s at the end",
			      names[i], states[attributes(&end[i]).qp_state]);
	look_at_rts(&end[1]);
	about("%s", "");
	if (seen.found < 2)
		wrong("it returned, and did not take both completions");
	one_message(seen.posted);
	if (memcmp(place, text, len) != 0)
		wrong("other bytes came");
	note("turn %d: %u bytes", turn + 1, len);
}

/* What fails in a child. The calls do their work: who goes on has both completions. */
enum { SENT, RECEIVED, POLL, RECV, SEND, MODIFY, FAILURES = MODIFY + 6 };
static int failure; /* from MODIFY on: the first call, the second */
static const char *const failures[] = {
	"the completion of the SEND is an error",
	"the completion of the receive is an error",
	"ibv_poll_cq fails",
	"ibv_post_recv fails",
	"ibv_post_send fails",
	"ibv_modify_qp fails",
};

static int failing_poll(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	int n = poll_op(cq, max, wc);

	if (failure == POLL)
		return -1;
	for (int i = 0; i < n; i++)
		wc[i].status = IBV_WC_LOC_PROT_ERR;
	return n;
}

static int failing_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad)
{
	recv_op(qp, wr, bad);
	*bad = wr;
	return ENOMEM;
}

static int failing_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			struct ibv_send_wr **bad)
{
	send_op(qp, wr, bad);
	*bad = wr;
	return ENOMEM;
}

/* With devices of its own: a child may not use those of its parent. */
static void one_failure(void)
{
	static const struct ibv_qp_cap cap = { 0 };
	static struct duo e;

	duo_open(&e, cap);
	poll_op = e.you.ctx->ops.poll_cq;
	send_op = e.you.ctx->ops.post_send;
	recv_op = e.peer.ctx->ops.post_recv;
	if (failure == SEND)
		e.you.ctx->ops.post_send = failing_send;
	if (failure == RECV)
		e.peer.ctx->ops.post_recv = failing_recv;
	if (failure == SENT || failure == POLL)
		e.you.ctx->ops.poll_cq = failing_poll;
	if (failure == RECEIVED)
		e.peer.ctx->ops.poll_cq = failing_poll;
	if (failure >= MODIFY)
		failing = failure - MODIFY + 1;
	tell(0, end_of(&e.you, IBV_MTU_1024,
		       register_memory(&e.you, text, ROOM, 0)));
	tell(1, end_of(&e.peer, IBV_MTU_1024,
		       register_memory(&e.peer, place, ROOM,
				       IBV_ACCESS_LOCAL_WRITE)));
	send_one(&end[0], &end[1], 17);
}

void judge(void)
{
	static const struct ibv_qp_cap cap = { 0 }; /* 1 of each */
	static const struct watch w = { .posts = posts,
					.looks = looks,
					.lets_find = lets_find,
					.found = found };

	duo_open(&d, cap);
	/* In two devices two QPs may have one number: make that impossible. */
	while (d.you.qp->qp_num == d.peer.qp->qp_num)
		d.peer = ep_second(&d.peer, cap);
	recv_op = d.you.ctx->ops.post_recv;
	d.you.ctx->ops.post_recv = post_recv; /* watch() hands it on, to both */
	for (int turn = 0; turn < TURNS; turn++) {
		struct ep you = turn ? ep_second(&d.you, cap) : d.you;
		struct ep peer = turn ? ep_second(&d.peer, cap) : d.peer;

		length = turn ? 17 : 3000;
		memset(place, '.', ROOM);
		for (size_t i = 0; i < ROOM; i++)
			text[i] = (char)('a' + (i + i / 256) % 26);
		tell(0, end_of(&you, turn ? IBV_MTU_512 : IBV_MTU_1024,
			       register_memory(&you, text, ROOM, 0)));
		tell(1, end_of(&peer, turn ? IBV_MTU_1024 : IBV_MTU_256,
			       register_memory(&peer, place, ROOM,
					       IBV_ACCESS_LOCAL_WRITE)));
		watch(&you, NULL);
		watch(&you, &w);
		watch(&peer, &w);
		send_one(&end[0], &end[1], length);
		done(length, turn);
	}
	for (failure = 0; failure < FAILURES; failure++) {
		const char *what =
			failures[failure < MODIFY ? failure : MODIFY];

		about("%s", what); /* an endless loop is reported with it */
		bool ended = fails(one_failure);
		about("%s", "");
		if (!ended)
			wrong("%s, and you did not end the program", what);
	}
}
