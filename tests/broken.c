/* SPDX-License-Identifier: MIT */
/*
 * tests/broken.c - breaks one rule of docs/strict.md, for tests/strict: broken CASE
 *
 * "broken right" breaks none; without a case it prints their names. Both ends are in this
 * program, on one device.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

enum { LEN = 4096, HALF = LEN / 2, CQE = 15 };
enum {
	ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
};

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	struct ibv_mr *mr;
	char *buf;
};
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct end us, peer;
static int depth = 4;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	printf("FAIL %s: %s\n", what, strerror(errno));
	exit(1);
}

static void make_end(struct end *e, uint32_t receives)
{
	e->cq = ibv_create_cq(ctx, CQE, NULL, channel, 0);
	must(e->cq != NULL, "ibv_create_cq");
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = { .max_send_wr = 7,
			 .max_recv_wr = receives,
			 .max_send_sge = 2,
			 .max_recv_sge = 1,
			 .max_inline_data = 32 },
	};
	e->qp = ibv_create_qp(pd, &init);
	must(e->qp != NULL, "ibv_create_qp");
	e->cap = init.cap;
	e->buf = aligned_alloc(LEN, LEN);
	must(e->buf != NULL, "memory");
	memset(e->buf, 'a', LEN);
	e->mr = ibv_reg_mr(pd, e->buf, LEN, ALL);
	must(e->mr != NULL, "ibv_reg_mr");
}

static void to_init(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .qp_access_flags = ALL };

	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				    IBV_QP_ACCESS_FLAGS),
	     "INIT");
}

static void to_rts(struct end *e, const struct end *other)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = other->qp->qp_num,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = { .port_num = 1,
			     .is_global = 1,
			     .grh.hop_limit = 64 },
	};

	must(!ibv_query_gid(ctx, 1, 0, &attr.ah_attr.grh.dgid), "GID 0");
	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .timeout = 14,
				     .retry_cnt = 6,
				     .max_rd_atomic = (uint8_t)depth };
	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

static struct ibv_sge here(size_t at, uint32_t len)
{
	return (struct ibv_sge){ .addr = (uintptr_t)us.buf + at,
				 .length = len,
				 .lkey = us.mr->lkey };
}

static int try_post(struct ibv_send_wr w)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(us.qp, &w, &bad);
}

/* Of these bytes of ours, signaled; to or from the same place at the peer. */
static struct ibv_send_wr request(enum ibv_wr_opcode op, struct ibv_sge *sge)
{
	struct ibv_send_wr w = { .wr_id = 7,
				 .opcode = op,
				 .sg_list = sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED };

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w.wr.atomic.remote_addr = (uintptr_t)peer.buf;
		w.wr.atomic.rkey = peer.mr->rkey;
	} else {
		w.wr.rdma.remote_addr = (uintptr_t)peer.buf;
		w.wr.rdma.rkey = peer.mr->rkey;
	}
	return w;
}

static void post(enum ibv_wr_opcode op, size_t at, uint32_t len, unsigned flags)
{
	struct ibv_sge sge = here(at, len);
	struct ibv_send_wr w = request(op, &sge);

	w.send_flags = flags;
	must(!try_post(w), "ibv_post_send");
}

static void receive(struct end *e, size_t at, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf + at,
			       .length = len,
			       .lkey = e->mr->lkey };
	struct ibv_recv_wr w = { .sg_list = &sge, .num_sge = 1 }, *bad;

	must(!ibv_post_recv(e->qp, &w, &bad), "ibv_post_recv");
}

/* Waits for n completions, five seconds at most. */
static enum ibv_wc_status wait_for(struct end *e, int n)
{
	struct ibv_wc wc = { 0 };

	for (int ms = 0; n > 0 && ms < 5000;) {
		int got = ibv_poll_cq(e->cq, 1, &wc);
		must(got >= 0, "ibv_poll_cq");
		n -= got;
		if (got == 0)
			ms += poll(NULL, 0, 1) == 0;
	}
	must(n <= 0, "a completion did not come");
	return wc.status;
}

enum { SIG = IBV_SEND_SIGNALED };
static const enum ibv_wr_opcode SEND = IBV_WR_SEND, WRITE = IBV_WR_RDMA_WRITE,
				READ = IBV_WR_RDMA_READ,
				ADD = IBV_WR_ATOMIC_FETCH_AND_ADD;

static void get_event(void)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_get_cq_event(channel, &cq, &context), "ibv_get_cq_event");
}

static void right(void)
{
	strcpy(peer.buf, "of the peer");
	receive(&peer, HALF, 64);
	post(SEND, 0, 64, SIG);
	wait_for(&peer, 1);
	wait_for(&us, 1);
	must(memcmp(peer.buf + HALF, us.buf, 64) == 0, "SEND: its bytes");
	post(READ, 64, 64, 0);
	post(ADD, 128, 8, 0);
	post(WRITE, 64, 64, SIG | IBV_SEND_FENCE);
	post(WRITE, 256, 8, SIG | IBV_SEND_INLINE);
	us.buf[256] = 'b'; /* INLINE: it was copied */
	wait_for(&us, 2);
	must(strcmp(us.buf + 64, "of the peer") == 0, "READ: its bytes");
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	post(WRITE, 0, HALF, SIG);
	get_event();
	ibv_ack_cq_events(us.cq, 1);
	wait_for(&us, 1);
}

static void buffer_changed(void)
{
	post(WRITE, 0, 64, SIG);
	us.buf[3] = 'x';
	wait_for(&us, 1);
}

static void buffer_written(void)
{
	post(READ, 0, 64, SIG);
	us.buf[3] = 'x';
	wait_for(&us, 1);
}

static void buffer_shared(void)
{
	receive(&us, 0, 64);
	post(WRITE, 32, 64, SIG);
	wait_for(&us, 1);
}

static void read_not_done(void)
{
	post(READ, 0, 64, 0);
	post(WRITE, 0, 64, SIG);
	wait_for(&us, 1);
}

static void sq_full(void)
{
	for (uint32_t i = 0; i < us.cap.max_send_wr; i++)
		post(WRITE, 0, 8, 0);
	post(WRITE, 0, 8, SIG);
	wait_for(&us, 1);
}

static void receives(uint32_t n)
{
	struct ibv_recv_wr w = { 0 }, *bad;

	while (n--)
		ibv_post_recv(us.qp, &w, &bad);
}

static void rq_full(void)
{
	receives(us.cap.max_recv_wr + 1);
}

static void cq_full(void)
{
	receives((uint32_t)us.cq->cqe + 1);
}

static void mr_in_use(void)
{
	post(WRITE, 0, 64, SIG);
	struct ibv_mr *mr = us.mr;
	us.mr = ibv_reg_mr(pd, us.buf, LEN, ALL);
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	wait_for(&us, 1);
}

static void in_use(void)
{
	must(ibv_dealloc_pd(pd) == EBUSY, "ibv_dealloc_pd: it is in use");
}

static void not_freed(void)
{
	must(ibv_alloc_pd(ctx) != NULL, "ibv_alloc_pd");
}

static void wrong_state(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	must(!ibv_modify_qp(us.qp, &attr, IBV_QP_STATE), "RESET");
	to_init(&us);
	struct ibv_sge sge = here(0, 8);
	try_post(request(WRITE, &sge));
}

static void inline_length(void)
{
	struct ibv_sge sge = here(0, us.cap.max_inline_data + 1);
	struct ibv_send_wr w = request(WRITE, &sge);

	w.send_flags |= IBV_SEND_INLINE;
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void inline_read(void)
{
	struct ibv_sge sge = here(0, 8);
	struct ibv_send_wr w = request(READ, &sge);

	w.send_flags |= IBV_SEND_INLINE;
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void rd_atomic(void)
{
	post(READ, 0, 8, SIG); /* it waits for ever: see main() */
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	must(!ibv_modify_qp(us.qp, &attr, IBV_QP_STATE), "ERR");
}

static void bad_lkey(void)
{
	struct ibv_sge sge = here(0, 8);

	sge.lkey ^= 0x5a00;
	if (try_post(request(WRITE, &sge)) == 0)
		wait_for(&us, 1);
}

static void other_pd(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_mr *mr = ibv_reg_mr(other, us.buf, LEN, ALL);
	struct ibv_sge sge = here(0, 8);

	sge.lkey = mr->lkey;
	if (try_post(request(WRITE, &sge)) == 0)
		wait_for(&us, 1);
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	must(!ibv_dealloc_pd(other), "ibv_dealloc_pd");
}

static void out_of_region(void)
{
	post(WRITE, LEN - 8, 16, SIG);
	wait_for(&us, 1);
}

static void no_right(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, us.buf, LEN, 0);
	struct ibv_sge sge = here(0, 8);

	sge.lkey = mr->lkey;
	if (try_post(request(READ, &sge)) == 0)
		wait_for(&us, 1);
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static void atomic_align(void)
{
	struct ibv_sge sge = here(0, 8);
	struct ibv_send_wr w = request(ADD, &sge);

	w.wr.atomic.remote_addr += 4;
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void event_not_acked(void)
{
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	post(WRITE, 0, 8, SIG);
	get_event();
	wait_for(&us, 1);
}

static void armed_not_polled(void)
{
	post(WRITE, 0, 8, SIG);
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	post(WRITE, 0, 8, SIG); /* so that here an event comes */
	get_event();
	ibv_ack_cq_events(us.cq, 1);
	wait_for(&us, 2);
}

static void not_polled(void)
{
	post(WRITE, 0, 8, SIG);
	poll(NULL, 0, 10);
}

static void rkey_zero(void)
{
	struct ibv_sge sge = here(0, 8);
	struct ibv_send_wr w = request(WRITE, &sge);

	w.wr.rdma.rkey = 0;
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void too_many_sge(void)
{
	struct ibv_sge sge[64] = { 0 };
	struct ibv_send_wr w = request(WRITE, sge);

	w.num_sge = (int)us.cap.max_send_sge + 1;
	for (int i = 0; i < w.num_sge; i++)
		sge[i] = here(0, 1);
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void refused(void)
{
	struct ibv_sge sge = here(0, 8);
	struct ibv_send_wr w = request(WRITE, &sge);

	w.wr.rdma.remote_addr += LEN;
	must(!try_post(w), "ibv_post_send");
	must(wait_for(&us, 1) != IBV_WC_SUCCESS, "it is not refused");
}

static const struct {
	const char *name;
	void (*run)(void);
	uint32_t receives;
} cases[] = {
	{ "right", right, 0 },
	{ "BUFFER-CHANGED", buffer_changed, 0 },
	{ "BUFFER-WRITTEN", buffer_written, 0 },
	{ "BUFFER-SHARED", buffer_shared, 0 },
	{ "READ-NOT-DONE", read_not_done, 0 },
	{ "SQ-FULL", sq_full, 0 },
	{ "RQ-FULL", rq_full, 0 },
	{ "CQ-FULL", cq_full, 100 },
	{ "MR-IN-USE", mr_in_use, 0 },
	{ "IN-USE", in_use, 0 },
	{ "NOT-FREED", not_freed, 0 },
	{ "WRONG-STATE", wrong_state, 0 },
	{ "INLINE-LENGTH", inline_length, 0 },
	{ "INLINE-READ", inline_read, 0 },
	{ "RD-ATOMIC", rd_atomic, 0 },
	{ "BAD-LKEY", bad_lkey, 0 },
	{ "OTHER-PD", other_pd, 0 },
	{ "OUT-OF-REGION", out_of_region, 0 },
	{ "NO-RIGHT", no_right, 0 },
	{ "ATOMIC-ALIGN", atomic_align, 0 },
	{ "EVENT-NOT-ACKED", event_not_acked, 0 },
	{ "ARMED-NOT-POLLED", armed_not_polled, 0 },
	{ "NOT-POLLED", not_polled, 0 },
	{ "RKEY-ZERO", rkey_zero, 0 },
	{ "TOO-MANY-SGE", too_many_sge, 0 },
	{ "REFUSED", refused, 0 },
};

static void free_end(struct end *e)
{
	must(!ibv_destroy_qp(e->qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(e->mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	free(e->buf);
}

static void run(size_t i)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	must(list && n > 0, "a device");
	ctx = ibv_open_device(list[0]);
	must(ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	channel = ibv_create_comp_channel(ctx);
	must(pd && channel, "PD and channel");
	if (cases[i].run == rd_atomic)
		depth = 0;
	make_end(&us, cases[i].receives ? cases[i].receives : 3);
	make_end(&peer, 3);
	to_init(&us);
	to_init(&peer);
	to_rts(&us, &peer);
	to_rts(&peer, &us);
	cases[i].run();
	free_end(&us);
	free_end(&peer);
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	must(!ibv_close_device(ctx), "ibv_close_device");
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (strcmp(cases[i].name, argv[1]) == 0) {
			run(i);
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
