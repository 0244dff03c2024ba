/* SPDX-License-Identifier: MIT */
/*
 * 00_hello/server.c - one connection, and one message comes in.
 *
 * All of it is main(), from making the objects to undoing them.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

/* For verbs that return 0, or the error number itself. Others set errno. */
static void must(int rc, const char *verb)
{
	if (rc)
		die_err(rc, "%s", verb);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);

	/* DOC: device. The one that -d names, or the first. */
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;
	while (d && *d && opt.dev &&
	       strcmp(ibv_get_device_name(*d), opt.dev) != 0)
		d++;
	if (!d || !*d)
		die("no RDMA device (-d), see ibv_devices");
	struct ibv_context *ctx = ibv_open_device(*d);
	if (!ctx)
		die_err(errno, "ibv_open_device");
	ibv_free_device_list(list);
	struct ibv_port_attr port;
	if (ibv_query_port(ctx, opt.ib_port, &port) ||
	    port.state != IBV_PORT_ACTIVE)
		die("port %u of the device is down (-i, -d)", opt.ib_port);
	struct ibv_gid_entry gid = pick_gid(ctx, &opt); /* our address */

	/* DOC: objects */
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	if (!pd)
		die_err(errno, "ibv_alloc_pd");
	/* It would wake us if we slept until a completion comes; but we poll. */
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	if (!channel)
		die_err(errno, "ibv_create_comp_channel");
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, channel, 0);
	if (!cq)
		die_err(errno, "ibv_create_cq");
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, /* reliable connection */
		.send_cq = cq,
		.recv_cq = cq,
	};
	init.cap.max_send_wr = init.cap.max_send_sge = 1; /* one each */
	init.cap.max_recv_wr = init.cap.max_recv_sge = 1;
	struct ibv_qp *qp = ibv_create_qp(pd, &init); /* its state: RESET */
	if (!qp)
		die_err(errno, "ibv_create_qp");

	/* DOC: exchange. What the other side must know of us. The PSN is random, so
	 * that no packet of an older connection fits. */
	struct ep me = { .opt = &opt, .qp = qp, .lid = port.lid };
	me.gid = gid.gid;
	me.mtu = port.active_mtu;
	if (getrandom(&me.psn, sizeof me.psn, 0) != sizeof me.psn)
		die_err(errno, "getrandom");
	me.psn &= 0xffffff;
	tcp_accept(&me);
	struct qp_info peer = recv_info(&me, 0); /* we answer below */

	/* LOCAL_WRITE, because our NIC writes the message into this memory. */
	static char inbox[MSG_MAX];
	struct ibv_mr *mr =
		ibv_reg_mr(pd, inbox, sizeof inbox, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	/* DOC: init. RESET -> INIT: receives may be posted from now on. */
	struct ibv_qp_attr to_init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = opt.ib_port,
		.pkey_index = 0,      /* partition: like a VLAN; the default */
		.qp_access_flags = 0, /* our memory is not open to the peer */
	};
	must(ibv_modify_qp(qp, &to_init,
			   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				   IBV_QP_ACCESS_FLAGS),
	     "ibv_modify_qp to INIT");

	/* DOC: receive. The place for the first message, before it can come. */
	struct ibv_sge place = {
		.addr = (uintptr_t)inbox,
		.length = sizeof inbox,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr receive = { .sg_list = &place, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	must(ibv_post_recv(qp, &receive, &bad), "ibv_post_recv");
	say("posted a receive of %zu bytes", sizeof inbox);

	/* DOC: rtr. INIT -> RTR, ready to receive: who the peer is. */
	struct ibv_qp_attr to_rtr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = peer.qpn,
		.rq_psn = peer.psn,
		.path_mtu = peer.mtu < me.mtu ? peer.mtu : me.mtu,
		.max_dest_rd_atomic = 1, /* READs: lesson 03 */
		.min_rnr_timer = 24,     /* no receive (RNR): wait 41 ms */
		.ah_attr.port_num = opt.ib_port,
		.ah_attr.is_global = 1, /* RoCE: addresses are GIDs */
		.ah_attr.grh.dgid = peer.gid,
		.ah_attr.grh.sgid_index = (uint8_t)gid.gid_index,
		.ah_attr.grh.hop_limit = 64, /* as the TTL of IP */
		.ah_attr.dlid = peer.lid,    /* LID: address on InfiniBand */
	};
	must(ibv_modify_qp(qp, &to_rtr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER),
	     "ibv_modify_qp to RTR");

	/* DOC: rts. RTR -> RTS, ready to send: how often, and how long to try. */
	struct ibv_qp_attr to_rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = me.psn,
		.timeout = 16,  /* no ACK for 268 ms: send again, */
		.retry_cnt = 6, /* at most so often */
		.rnr_retry = 6, /* the same, if no receive is there: RNR */
		.max_rd_atomic = 1,
	};
	must(ibv_modify_qp(qp, &to_rts,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC),
	     "ibv_modify_qp to RTS");
	send_info(&me, NULL); /* NULL: no memory is open to the client */

	/* DOC: poll. Look into the CQ until a completion is there; but a peer that
	 * dies sends nothing, so look at TCP and at the clock, too. */
	struct pollfd tcp = { .fd = me.sock, .events = POLLRDHUP };
	double end = now_ms() + opt.wait_s * 1e3;
	struct ibv_wc wc;
	int n, gone = 0;
	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0) {
		if (gone || now_ms() > end)
			die("waiting for a completion: %s",
			    gone ? "the peer hung up" : "it takes too long");
		gone = poll(&tcp, 1, 1); /* for 1 ms; others need the CPU */
	}
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	if (wc.status != IBV_WC_SUCCESS)
		die("receive: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV || wc.wc_flags & IBV_WC_WITH_IMM)
		die("a completion, but not of a plain SEND");
	if (wc.byte_len != strlen(TEXT) ||
	    memcmp(inbox, TEXT, wc.byte_len) != 0)
		die("%u bytes came, and not \"%s\"", wc.byte_len, TEXT);
	say("%u bytes came: \"%.*s\"", wc.byte_len, (int)wc.byte_len, inbox);

	/* DOC: undo. When neither side needs the other, in reverse order. */
	barrier(&me);
	must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	if (ibv_close_device(ctx))
		die_err(errno, "ibv_close_device");
	close(me.sock);
	say("PASS one message, whole, and all objects are undone");
	return 0;
}
