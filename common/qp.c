/* SPDX-License-Identifier: MIT */
/*
 * common/qp.c - open a device, make a QP, bring it to life.
 *
 * A new QP can do nothing. Three calls of ibv_modify_qp take it through
 *
 *   RESET -> INIT  it belongs to a port; receives may be posted
 *         -> RTR   ready to receive: it knows its peer
 *         -> RTS   ready to send
 *
 * and each demands at least the attributes listed for it in man ibv_modify_qp.
 * librdmacm would do this for us; here it is, once, by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

/* For the verbs that return the error number itself, or 0 if all went well. */
static void must(int rc, const char *verb)
{
	if (rc)
		die_err(rc, "%s", verb);
}

/*
 * The GID is this end's address on the network; the table has one for each
 * IP address of the interface and RoCE version. Index 0 is often an IPv6
 * address that nobody routes. An IPv4-mapped one (::ffff:a.b.c.d) of RoCE v2
 * works wherever IPv4 does; without one, any other that is not of RoCE v1.
 */
int choose_gid(const struct ibv_gid_entry *t, int n, unsigned ib_port)
{
	int best = -1;

	for (int i = 0; i < n; i++) {
		if (t[i].port_num != ib_port ||
		    t[i].gid_index > 255 || /* a QP has one byte for it */
		    t[i].gid_type == IBV_GID_TYPE_ROCE_V1 ||
		    IN6_IS_ADDR_UNSPECIFIED(t[i].gid.raw))
			continue;
		if (IN6_IS_ADDR_V4MAPPED(t[i].gid.raw))
			return i;
		if (best < 0)
			best = i;
	}
	return best;
}

struct ibv_gid_entry pick_gid(struct ibv_context *ctx, const struct options *o)
{
	static const char *const types[] = { "InfiniBand", "RoCE v1",
					     "RoCE v2" };
	const char *dev = ibv_get_device_name(ctx->device);
	struct ibv_gid_entry t[1024], *g = t; /* the GIDs of all ports */
	char ip[INET6_ADDRSTRLEN];

	if (o->gid_index >= 0) {
		int rc = ibv_query_gid_ex(ctx, o->ib_port,
					  (uint32_t)o->gid_index, g, 0);
		if (rc)
			die_err(rc, "GID index %d (-g) of %s", o->gid_index,
				dev);
	} else {
		ssize_t n = ibv_query_gid_table(ctx, t, 1024, 0);
		if (n < 0)
			die_err((int)-n, "the GIDs of %s (choose one with -g)",
				dev);
		int i = choose_gid(t, (int)n, o->ib_port);
		if (i < 0)
			die("%s has no usable GID: has its network interface "
			    "an IP address?",
			    dev);
		g = &t[i];
	}
	inet_ntop(AF_INET6, g->gid.raw, ip, sizeof ip);
	note("%s port %u, GID %u: %s (%s)", dev, o->ib_port, g->gid_index, ip,
	     g->gid_type < 3 ? types[g->gid_type] : "?");
	return *g;
}

/* Opens the named device, or the first whose port is active. */
static void open_device(struct ep *ep)
{
	const struct options *o = ep->opt;
	struct ibv_port_attr port;
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; i < n && !ep->ctx; i++) {
		const char *name = ibv_get_device_name(list[i]);

		if (o->dev && strcmp(name, o->dev) != 0)
			continue;
		/* Only librdmacm can connect the QPs of iWARP. */
		if (list[i]->transport_type == IBV_TRANSPORT_IWARP)
			continue;
		ep->ctx = ibv_open_device(list[i]);
		if (!ep->ctx)
			die_err(errno, "ibv_open_device %s", name);
		int rc = ibv_query_port(ep->ctx, o->ib_port, &port);
		if (rc && o->dev)
			die_err(rc, "port %u of %s", o->ib_port, o->dev);
		if (rc || port.state != IBV_PORT_ACTIVE) {
			if (ibv_close_device(ep->ctx))
				die_err(errno, "ibv_close_device");
			ep->ctx = NULL;
		}
	}
	if (list)
		ibv_free_device_list(list);
	if (!ep->ctx) {
		say("FAIL no RDMA device%s%s with port %u active here "
		    "(not counting iWARP; \"make run-NN\" brings a lab, "
		    "\"make doctor\" helps)",
		    o->dev ? " named " : "", o->dev ? o->dev : "", o->ib_port);
		exit(77);
	}
	ep->lid = port.lid;
	ep->mtu = port.active_mtu;
}

/* A random first PSN: packets of an earlier connection that are still under way
 * must not be taken for ours. */
static void new_psn(struct ep *ep)
{
	if (getrandom(&ep->psn, sizeof ep->psn, 0) != sizeof ep->psn)
		die_err(errno, "getrandom");
	ep->psn &= 0xffffff;
}

static void make_cq(struct ep *ep, int cqe)
{
	ep->channel = ibv_create_comp_channel(ep->ctx);
	if (!ep->channel)
		die_err(errno, "ibv_create_comp_channel");
	ep->cq = ibv_create_cq(ep->ctx, cqe, NULL, ep->channel, 0);
	if (!ep->cq)
		die_err(errno, "ibv_create_cq");
}

static uint32_t at_least_1(uint32_t n)
{
	return n ? n : 1;
}

static void make_qp(struct ep *ep, struct ibv_qp_cap cap)
{
	cap.max_send_wr = at_least_1(cap.max_send_wr);
	cap.max_recv_wr = at_least_1(cap.max_recv_wr);
	cap.max_send_sge = at_least_1(cap.max_send_sge);
	cap.max_recv_sge = at_least_1(cap.max_recv_sge);
	make_cq(ep, (int)(cap.max_send_wr + cap.max_recv_wr));
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, /* reliable connection */
		.send_cq = ep->cq,
		.recv_cq = ep->cq,
		.cap = cap,
		.sq_sig_all = 0, /* a send completes visibly if SIGNALED */
	};
	ep->qp = ibv_create_qp(ep->pd, &init);
	if (!ep->qp)
		die_err(errno, "ibv_create_qp");
	ep->cap = init.cap; /* ibv_create_qp wrote what it granted there */

	new_psn(ep);
}

static struct ep open_end(const struct options *opt)
{
	struct ep ep = {
		.opt = opt,
		.sock = -1,
		.timeout = 16,
		.retry_cnt = 6,
		.rnr_retry = 6,
		.min_rnr_timer = 24,
	};
	struct ibv_device_attr can;
	int depth = 4;

	open_device(&ep);
	struct ibv_gid_entry gid = pick_gid(ep.ctx, opt);
	ep.gid = gid.gid;
	ep.gid_index = (uint8_t)gid.gid_index;
	/* No more than the device can, or a NIC may refuse the QP's attributes
	 * (Linux hw/irdma/verbs.c, hw/mlx5/qp.c: EINVAL). One number for both
	 * directions: drivers do not agree on which limit is for which. */
	must(ibv_query_device(ep.ctx, &can), "ibv_query_device");
	if (depth > can.max_qp_init_rd_atom)
		depth = can.max_qp_init_rd_atom;
	if (depth > can.max_qp_rd_atom)
		depth = can.max_qp_rd_atom;
	ep.max_rd_atomic = ep.max_dest_rd_atomic = (uint8_t)depth;

	ep.pd = ibv_alloc_pd(ep.ctx);
	if (!ep.pd)
		die_err(errno, "ibv_alloc_pd");
	return ep;
}

struct ep ep_open(const struct options *opt, struct ibv_qp_cap cap)
{
	struct ep ep = open_end(opt);

	make_qp(&ep, cap);
	return ep;
}

struct ep ep_open_device(const struct options *opt, int cqe)
{
	struct ep ep = open_end(opt);

	make_cq(&ep, cqe);
	return ep;
}

struct ep ep_second(const struct ep *first, struct ibv_qp_cap cap)
{
	struct ep ep = *first;

	ep.second = true;
	make_qp(&ep, cap);
	return ep;
}

void qp_to_init(struct ep *ep, unsigned access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ep->opt->ib_port,
		.pkey_index = 0, /* the default partition */
		.qp_access_flags = access,
	};

	must(ibv_modify_qp(ep->qp, &attr,
			   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				   IBV_QP_ACCESS_FLAGS),
	     "ibv_modify_qp to INIT");
}

static int try_rtr(struct ep *ep, const struct qp_info *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn, /* the first one we shall receive */
		/* Neither end may send packets the other cannot take. */
		.path_mtu = peer->mtu < ep->mtu ? peer->mtu : ep->mtu,
		/* READs and atomics of the peer that we serve at once. It must
		 * not have more under way: its max_rd_atomic. No verb compares
		 * the two; here both ends go by one rule, in ep_open(), which
		 * is enough if their devices are alike. */
		.max_dest_rd_atomic = ep->max_dest_rd_atomic,
		/*
		 * When a message arrives and no receive is posted, we tell the
		 * peer's NIC to wait this long before it tries again. A code
		 * into a table, not a number of units: 1 = 0.01 ms, 12 = 0.64,
		 * 18 = 5.12, 24 = 40.96, 31 = 491.52 - and 0 = 655.36 ms, the
		 * longest (Linux enum ib_rnr_timeout in ib_verbs.h).
		 */
		.min_rnr_timer = ep->min_rnr_timer,
		.ah_attr = {
			.port_num = ep->opt->ib_port,
			.dlid = peer->lid, /* InfiniBand routes by LID */
			/* RoCE has no LIDs: the address is the GID; RoCE v2
			 * has it in the IP header. */
			.is_global = 1,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = ep->gid_index, /* our own table */
				.hop_limit = 64,
			},
		},
	};

	return ibv_modify_qp(ep->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

void qp_to_rtr(struct ep *ep, const struct qp_info *peer)
{
	must(try_rtr(ep, peer),
	     "ibv_modify_qp to RTR (can this GID reach the peer's? "
	     "-g chooses another)");
}

void qp_to_rts(struct ep *ep)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = ep->psn,
		/* Wait at least 4.096 us * 2^timeout for an ACK: 16 = 268 ms
		 * (man rdma_set_option has the formula); a NIC may wait four
		 * times as long (docs/nic.md); 0 = for ever. Too short is no
		 * good either: on a busy machine an answer may be late and not
		 * lost; and rxe does not repeat a READ or atomic that has a
		 * fence (docs/rxe.md). */
		.timeout = ep->timeout,
		/* Then send again, at most this often. By the specification 7
		 * is seven times; rxe takes it for "for ever". */
		.retry_cnt = ep->retry_cnt,
		/* How often to try again when the peer had no receive posted;
		 * here 7 does mean for ever. How long to wait in between is
		 * the peer's min_rnr_timer. */
		.rnr_retry = ep->rnr_retry,
		/* READs and atomics that we have under way at once; others
		 * wait in the send queue. rxe takes 0 literally, and the first
		 * one waits for ever; mlx5 and bnxt_re do one at a time, irdma
		 * as many as it can (Linux rxe_req.c, mlx5/qp.c,
		 * bnxt_re/qplib_fp.c, irdma/verbs.c). */
		.max_rd_atomic = ep->max_rd_atomic,
	};

	must(ibv_modify_qp(ep->qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC),
	     "ibv_modify_qp to RTS");
}

int qp_connect(struct ep *ep, unsigned access, const struct qp_info *peer)
{
	new_psn(ep);
	qp_to_init(ep, access);
	int rc = try_rtr(ep, peer);
	if (rc == 0)
		qp_to_rts(ep);
	return rc;
}

void keep_waiting(struct ep *ep, double since, const char *what)
{
	struct pollfd p = { .fd = ep->sock, .events = POLLRDHUP };
	double waited;

	if (++ep->turns % 64 != 0)
		return;
	waited = now_ms() - since;
	if (ep->hung_up)
		die("waiting for %s: the peer hung up", what);
	if (waited > ep->opt->wait_s * 1e3)
		die("waiting for %s: nothing within %d s", what,
		    ep->opt->wait_s);
	/* Let others run who want to (rxe's requests need a CPU, too), and
	 * after 2 ms leave the CPU to them, 1 ms at a time. */
	if (waited < 2)
		sched_yield();
	else
		ep->hung_up = poll(&p, 1, 1) > 0;
}

struct ibv_wc wait_wc(struct ep *ep)
{
	double since = now_ms();
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(ep->cq, 1, &wc)) == 0)
		keep_waiting(ep, since, "a completion");
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	return wc;
}

void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	must(ibv_post_send(ep->qp, list, &bad), "ibv_post_send");
}

uint64_t expect_completion(struct ep *ep, const char *what)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
	return wc.wr_id;
}

void ep_close(struct ep *ep)
{
	/* In the reverse order: each refuses while something still uses it. */
	if (ep->qp)
		must(ibv_destroy_qp(ep->qp), "ibv_destroy_qp");
	must(ibv_destroy_cq(ep->cq), "ibv_destroy_cq");
	must(ibv_destroy_comp_channel(ep->channel), "ibv_destroy_comp_channel");
	if (ep->second)
		return;
	must(ibv_dealloc_pd(ep->pd), "ibv_dealloc_pd");
	if (ibv_close_device(ep->ctx))
		die_err(errno, "ibv_close_device");
	if (ep->sock != -1)
		close(ep->sock);
}
