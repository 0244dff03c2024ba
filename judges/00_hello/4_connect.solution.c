/* SPDX-License-Identifier: MIT */
/* Solution of exercise 0.4 - connect two queue pairs yourself */
#include "4_connect.h"

static void must(int rc, const char *verb)
{
	if (rc)
		die_err(rc, "%s", verb);
}

static void to_init(const struct end *me)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = me->port_num,
		.pkey_index = 0,
		.qp_access_flags = 0,
	};

	must(ibv_modify_qp(me->qp, &attr,
			   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				   IBV_QP_ACCESS_FLAGS),
	     "ibv_modify_qp to INIT");
}

static void to_rtr(const struct end *me, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->psn,
		.path_mtu = me->mtu < peer->mtu ? me->mtu : peer->mtu,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 24,
		.ah_attr.port_num = me->port_num,
		.ah_attr.is_global = 1,
		.ah_attr.grh.dgid = peer->gid,
		.ah_attr.grh.sgid_index = me->gid_index,
		.ah_attr.grh.hop_limit = 64,
		.ah_attr.dlid = peer->lid,
	};

	must(ibv_modify_qp(me->qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER),
	     "ibv_modify_qp to RTR");
}

static void to_rts(const struct end *me)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = me->psn,
		.timeout = 16,
		.retry_cnt = 6,
		.rnr_retry = 6,
		.max_rd_atomic = 1,
	};

	must(ibv_modify_qp(me->qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC),
	     "ibv_modify_qp to RTS");
}

static void take_completion(const struct end *me)
{
	double last = now_ms() + 10e3;
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(me->cq, 1, &wc)) == 0)
		if (now_ms() > last)
			die("no completion within 10 s");
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	if (wc.status != IBV_WC_SUCCESS)
		die("completion: %s", ibv_wc_status_str(wc.status));
}

void send_one(struct end *from, struct end *to, uint32_t len)
{
	struct ibv_sge text = {
		.addr = (uintptr_t)from->mr->addr,
		.length = len,
		.lkey = from->mr->lkey,
	};
	struct ibv_sge place = {
		.addr = (uintptr_t)to->mr->addr,
		.length = len,
		.lkey = to->mr->lkey,
	};
	struct ibv_recv_wr receive = { .sg_list = &place, .num_sge = 1 };
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &text,
		.num_sge = 1,
	};
	struct ibv_send_wr *bad_send;

	to_init(from);
	to_init(to);
	must(ibv_post_recv(to->qp, &receive, &bad_receive), "ibv_post_recv");
	to_rtr(from, to);
	to_rtr(to, from);
	to_rts(from);
	to_rts(to);
	must(ibv_post_send(from->qp, &send, &bad_send), "ibv_post_send");
	take_completion(from);
	take_completion(to);
}
