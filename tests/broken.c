/* SPDX-License-Identifier: MIT */
/*
 * tests/broken.c - breaks one rule of docs/strict.md, for tests/strict: broken CASE
 *
 * "broken right" breaks none; without a case it prints their names. Both ends are in this
 * program, on one device.
 *
 * broken random FROM TO: so many random programs, which break no rule: requests, lists, flags.
 * broken faulty FROM TO: the same, each with one of the cases somewhere in between.
 * Prints what strict reported of each, a line "NUMBER CASE STATUS RULE...".
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

enum { LEN = 4096, HALF = LEN / 2, CQE = 15 };
enum {
	ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
};

struct end {
	struct ibv_srq *srq; /* or none */
	int all_signaled;
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
static int
	gone; /* completions of a random program's requests that a case has polled */

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
		.cap = { 7, receives, 2, 1, 32 },
		.srq = e->srq,
		.sq_sig_all = e->all_signaled,
		.recv_cq = e->cq,
		.qp_type = IBV_QPT_RC,
		.send_cq = e->cq,
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

static void free_end(struct end *e)
{
	must(!ibv_destroy_qp(e->qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(e->mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	free(e->buf);
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
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 20, /* rxe never repeats a fenced READ */
		.retry_cnt = 6,
		.max_rd_atomic = (uint8_t)depth
	};
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
static struct ibv_wc latest; /* of these the last */
static enum ibv_wc_status wait_for(struct end *e, int n)
{
	for (int ms = 0; n > 0 && ms < 5000;) {
		int got = ibv_poll_cq(e->cq, 1, &latest);
		must(got >= 0, "ibv_poll_cq");
		if (got > 0 && latest.wr_id != 7 && latest.wr_id != 0)
			gone++;
		else
			n -= got;
		if (got == 0)
			ms += poll(NULL, 0, 1) == 0;
	}
	must(n <= 0, "a completion did not come");
	return latest.status;
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

/* Two threads post to one QP by ibv_wr_*, and two poll its CQ, made by ibv_create_cq_ex. */
static struct ibv_cq_ex *shared_cq;
static struct ibv_qp_ex *shared_qp;
static _Atomic int free_places = 7, not_posted = 1000, not_polled_yet = 1000;

static void *post_some(void *at)
{
	char *mine = us.buf + HALF + (size_t)at;

	while (not_posted-- > 0) {
		while (free_places-- <= 0) {
			free_places++;
			usleep(100);
		}
		ibv_wr_start(shared_qp);
		shared_qp->wr_id = 7;
		shared_qp->wr_flags = SIG;
		ibv_wr_rdma_write(shared_qp, us.mr->rkey, (uintptr_t)us.buf);
		if (not_posted % 2)
			ibv_wr_set_sge(shared_qp, us.mr->lkey, (uintptr_t)mine,
				       64);
		else
			ibv_wr_set_inline_data(shared_qp, mine, 16);
		must(!ibv_wr_complete(shared_qp), "ibv_wr_complete");
	}
	return NULL;
}

static void *poll_some(void *unused)
{
	struct ibv_poll_cq_attr attr = { 0 };

	while (not_polled_yet > 0) {
		if (ibv_start_poll(shared_cq, &attr)) {
			usleep(100);
			continue;
		}
		must(shared_cq->status == IBV_WC_SUCCESS &&
			     shared_cq->wr_id == 7,
		     "a WRITE");
		not_polled_yet--;
		free_places++;
		ibv_end_poll(shared_cq);
	}
	return unused;
}

static void right_in_four_threads(void)
{
	struct ibv_cq_init_attr_ex cq = { .cqe = CQE };
	struct end end = { 0 };
	pthread_t thread[4];

	shared_cq = ibv_create_cq_ex(ctx, &cq);
	must(shared_cq != NULL, "ibv_create_cq_ex");
	end.cq = ibv_cq_ex_to_cq(shared_cq);
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end.cq,
		.recv_cq = end.cq,
		.cap = { 7, 1, 1, 1, 32 },
		.qp_type = IBV_QPT_RC,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	end.qp = ibv_create_qp_ex(ctx, &init);
	must(end.qp != NULL, "ibv_create_qp_ex");
	shared_qp = ibv_qp_to_qp_ex(end.qp);
	to_init(&end);
	to_rts(&end, &end);
	for (size_t i = 0; i < 4; i++)
		must(!pthread_create(&thread[i], NULL,
				     i % 2 ? post_some : poll_some,
				     (void *)(i * 64)),
		     "pthread_create");
	for (int i = 0; i < 4; i++)
		must(!pthread_join(thread[i], NULL), "pthread_join");
	for (int round = 0; round < 20; round++) { /* it is polled both ways */
		not_posted = free_places = 2;
		not_polled_yet = 1;
		post_some(0);
		must(wait_for(&end, 1) == IBV_WC_SUCCESS, "a WRITE");
		poll_some(NULL);
	}
	must(!ibv_destroy_qp(end.qp) && !ibv_destroy_cq(end.cq), "the end");
}

/* What one region brings, it sends itself, or the other one does, which may come late. */
static void two_regions(bool late, bool other)
{
	memset(peer.buf, 'P' + late + 2 * other, 64);
	if (late)
		post(READ, 512, 64, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, us.buf, LEN, IBV_ACCESS_LOCAL_WRITE);
	must(mr != NULL, "ibv_reg_mr");
	struct ibv_sge s = { (uintptr_t)us.buf + 512, 64,
			     other ? mr->lkey : us.mr->lkey };
	struct ibv_send_wr w = request(WRITE, &s);

	if (!late)
		post(READ, 512, 64, 0);
	w.wr.rdma.remote_addr += 1024;
	w.send_flags |= IBV_SEND_FENCE;
	must(!try_post(w), "ibv_post_send");
	wait_for(&us, 1);
	must(peer.buf[1024] == peer.buf[0], "two regions: their bytes");
	must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/* A thread that polls is cancelled: others may go on. */
static _Atomic int n_polled;

static void *poll_for_ever(void *unused)
{
	struct ibv_wc wc;

	for (;; pthread_testcancel()) {
		must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
		n_polled += ibv_poll_cq(us.cq, 1, &wc);
	}
	return unused;
}

static void cancelled(void)
{
	pthread_t thread;
	struct ibv_wc wc;

	for (int round = 1; round <= 20; round++) {
		must(!pthread_create(&thread, NULL, poll_for_ever, NULL),
		     "pthread_create");
		for (size_t i = 0; i < 3; i++)
			post(READ, i * 64, 64, SIG);
		usleep(100);
		must(!pthread_cancel(thread) && !pthread_join(thread, NULL),
		     "pthread_cancel");
		for (int ms = 0; n_polled < 3 * round; ms++) {
			must(ms < 5000, "a completion did not come");
			n_polled += ibv_poll_cq(us.cq, 1, &wc);
			usleep(1000);
		}
	}
}

/* When a poll finds nothing, nothing is left of a QP that is gone. */
static void drained(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct end end = { 0 };
	struct ibv_wc wc;

	for (int round = 0; round < 20; round++) {
		make_end(&end, 3);
		to_init(&end);
		to_rts(&end, &end);
		for (size_t i = 0; i < 3; i++)
			receive(&end, i * 64, 64);
		must(!ibv_modify_qp(end.qp, &error, IBV_QP_STATE), "ERR");
		poll(NULL, 0, 5);
		must(!ibv_destroy_qp(end.qp), "ibv_destroy_qp");
		while (ibv_poll_cq(end.cq, 1, &wc) > 0)
			;
		for (int i = 0; i < 10; i++)
			must(!ibv_poll_cq(end.cq, 1, &wc), "it was empty");
		must(!ibv_dereg_mr(end.mr) && !ibv_destroy_cq(end.cq), "end");
		free(end.buf);
	}
}

/* A message is shorter than the receive: the bytes behind it are the program's. Two receives
 * may have the same bytes. */
static void short_messages(void)
{
	memset(us.buf, 'z', 8);
	memset(peer.buf, 'p', 1024);
	receive(&peer, 0, 64);
	receive(&peer, 32, 64);
	for (size_t at = 0; at <= 32; at += 32) {
		post(SEND, 0, 8, SIG);
		wait_for(&us, 1);
		wait_for(&peer, 1);
		must(memcmp(peer.buf + at, us.buf, 8) == 0, "its bytes");
		must(memcmp(peer.buf + at + 8, peer.buf + 512, 24) == 0,
		     "the bytes behind it");
	}
	must(memcmp(peer.buf + 64, peer.buf + 512, 32) == 0, "the others");
}

/* The region of a receive goes, and then the QP does, or only what was posted. */
static void region_first(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct end end = { 0 };

	for (int flushed = 0; flushed < 2; flushed++) {
		make_end(&end, 3);
		to_init(&end);
		to_rts(&end, &end);
		receive(&end, 0, 64);
		must(!ibv_dereg_mr(end.mr), "ibv_dereg_mr");
		if (flushed) {
			must(!ibv_modify_qp(end.qp, &error, IBV_QP_STATE),
			     "ERR");
			must(wait_for(&end, 1) == IBV_WC_WR_FLUSH_ERR, "flush");
			end.mr = ibv_reg_mr(pd, end.buf, LEN, ALL);
			must(end.mr != NULL, "ibv_reg_mr");
			receive(&end, 0, 64);
			must(!ibv_dereg_mr(end.mr), "ibv_dereg_mr");
		}
		must(!ibv_destroy_qp(end.qp), "ibv_destroy_qp");
		must(!ibv_destroy_cq(end.cq), "ibv_destroy_cq");
		free(end.buf);
	}
}

/* The receives of an SRQ become few, and an event says so. */
static void few_left(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4,
						    .max_sge = 1 } };
	struct end end = { .srq = ibv_create_srq(pd, &init),
			   .all_signaled = 1 };
	struct pollfd p = { ctx->async_fd, POLLIN, 0 };
	struct ibv_async_event event;

	must(end.srq != NULL, "ibv_create_srq");
	make_end(&end, 0);
	to_init(&end);
	to_rts(&end, &end);
	struct ibv_sge sge = { (uintptr_t)end.buf, 64, end.mr->lkey };
	struct ibv_recv_wr *bad_w, w = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad, send = { .opcode = SEND };
	for (int i = 0; i < 2; i++)
		must(!ibv_post_srq_recv(end.srq, &w, &bad_w),
		     "ibv_post_srq_recv");
	must(!ibv_modify_srq(end.srq, &(struct ibv_srq_attr){ .srq_limit = 2 },
			     IBV_SRQ_LIMIT),
	     "ibv_modify_srq");
	must(!ibv_post_send(end.qp, &send, &bad), "ibv_post_send");
	must(poll(&p, 1, 5000) == 1 && !ibv_get_async_event(ctx, &event) &&
		     event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED,
	     "an event");
	ibv_ack_async_event(&event);
	must(wait_for(&end, 2) == IBV_WC_SUCCESS, "a SEND to an SRQ");
	free_end(&end);
	must(!ibv_destroy_srq(end.srq), "ibv_destroy_srq");
}

/* A poll takes fewer than there are, sooner or later, unless the CQ is armed. */
static void short_polls(void)
{
	struct ibv_wc wc[2];
	int got = 2;

	for (int round = 0; round < 200 && got == 2; round++) {
		post(WRITE, 0, 8, SIG);
		post(WRITE, 0, 8, SIG);
		poll(NULL, 0, 5);
		got = ibv_poll_cq(us.cq, 2, wc);
	}
	must(got == 0 || got == 1, "each poll takes all");
	wait_for(&us, 2 - got);
}

static void right(void)
{
	struct ibv_wc wc;

	short_polls();
	memcpy(peer.buf, "of the peer", 12);
	receive(&peer, HALF, 64);
	pid_t child = fork();
	if (child == 0) /* closes its copy; all is its parent's */
		_exit(ibv_close_device(ctx));
	must(waitpid(child, NULL, 0) == child, "waitpid");
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
	/* What a READ brings was sent before it. A fence is one for all behind it. */
	post(WRITE, 512, 64, 0);
	post(READ, 512, 64, 0);
	post(WRITE, 640, 8, IBV_SEND_FENCE);
	post(WRITE, 512, 64, SIG);
	wait_for(&us, 1);
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	post(WRITE, 0, HALF, SIG);
	get_event();
	ibv_ack_cq_events(us.cq, 1);
	must(ibv_poll_cq(us.cq, 1, &wc) == 1, "what raised an event is there");
	two_regions(true, false);
	two_regions(false, false);
	two_regions(false, true);
	right_in_four_threads();
	cancelled();
	drained();
	region_first();
	short_messages();
	few_left();
}

static void buffer_changed(void)
{
	post(WRITE, 0, 64, SIG);
	us.buf[3] = 'x';
	wait_for(&us, 1);
}

static void buffer_written(void)
{
	post(READ, 0, 64, 0);
	post(WRITE, 0, 64, SIG | IBV_SEND_FENCE);
	us.buf[3] = 'x';
	wait_for(&us, 1);
}

static void buffer_shared(void)
{
	receive(&us, 0, 64);
	post(WRITE, 32, 64, SIG);
	wait_for(&us, 1);
}

/* Some faults have several ways: not the first are for random programs. */
static uint64_t state;
static bool second_way(void)
{
	return state >> 40 & 1;
}

static void read_not_done(void)
{
	struct ibv_sge sge = here(0, 64);
	struct ibv_send_wr *bad, w = request(WRITE, &sge);

	w.send_flags |= IBV_SEND_FENCE; /* it is one in its own queue */
	post(READ, 0, 64, SIG);
	if (second_way()) {
		must(!ibv_post_send(peer.qp, &w, &bad), "ibv_post_send");
		wait_for(&peer, 1);
	} else {
		post(WRITE, 0, 8,
		     SIG | (state >> 41 & 1 ? IBV_SEND_INLINE : 0));
		wait_for(&us, 1);
	}
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
		(void)ibv_post_recv(us.qp, &w, &bad);
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
	post(WRITE, second_way() ? (size_t)-8 : LEN - 8, 16, SIG);
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
	struct ibv_sge sge[] = { here(0, 8), here(4, 4) };
	struct ibv_send_wr w = request(ADD, sge);

	if (second_way())
		w.num_sge = 2, sge[0].length = 4;
	else
		w.wr.atomic.remote_addr += 4;
	if (try_post(w) == 0)
		wait_for(&us, 1);
}

static void event_not_acked(void)
{
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	post(WRITE, 0, 8, SIG);
	get_event();
	if (second_way())
		ibv_ack_cq_events(us.cq, 2);
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

/* A poll of 16 takes not all that was there before. */
static void batch(void)
{
	struct ibv_sge sge = { (uintptr_t)peer.buf, 8, peer.mr->lkey };
	struct ibv_send_wr *bad, w = request(SEND, &sge);
	struct ibv_wc wc[16];

	must(!ibv_resize_cq(us.cq, 63), "ibv_resize_cq");
	for (int i = 0; i < 21; i++)
		receive(&us, (size_t)i * 64, 64);
	for (int i = 0; i < 20; i++) {
		must(!ibv_post_send(peer.qp, &w, &bad), "ibv_post_send");
		wait_for(&peer, 1);
	}
	must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
	int n = ibv_poll_cq(us.cq, 16, wc);
	must(!ibv_post_send(peer.qp, &w, &bad), "ibv_post_send");
	get_event();
	ibv_ack_cq_events(us.cq, 1);
	wait_for(&us, 21 - n);
	wait_for(&peer, 1);
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
	must(!try_post(w), "behind it");
	must(wait_for(&us, 1) != IBV_WC_SUCCESS, "it is not refused");
	must(latest.wr_id == 7 && latest.qp_num == us.qp->qp_num &&
		     latest.vendor_err != 0xeeeeeeee,
	     "what means something");
	must(latest.byte_len == 0xeeeeeeee && latest.wc_flags == 0xeeeeeeee,
	     "what means nothing");
}

/* The region of a receive goes, and the message comes. */
static void orphan(void)
{
	struct ibv_sge sge = { (uintptr_t)peer.buf, 64, peer.mr->lkey };
	struct ibv_send_wr *bad, w = request(SEND, &sge);
	struct ibv_mr *mr = us.mr;

	receive(&us, 0, 64);
	us.mr = ibv_reg_mr(pd, us.buf, LEN, ALL);
	must(us.mr && !ibv_dereg_mr(mr), "ibv_dereg_mr");
	w.send_flags = 0;
	must(!ibv_post_send(peer.qp, &w, &bad), "ibv_post_send");
	must(wait_for(&us, 1) != IBV_WC_SUCCESS, "it has no region");
}

/* The worst change: the memory is gone. It was in two regions. */
static void freed(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, p, 4096, 0),
		      *same = ibv_reg_mr(pd, p, 4096, 0);
	must(mr && same, "ibv_reg_mr");
	struct ibv_sge s = { (uintptr_t)p, 64, mr->lkey };
	struct ibv_send_wr w = request(WRITE, &s);

	must(!try_post(w), "ibv_post_send");
	must(!munmap(p, 4096), "munmap");
	wait_for(&us, 1);
	must(!ibv_dereg_mr(mr) && !ibv_dereg_mr(same), "ibv_dereg_mr");
}

/* Faults that break no rule of the device, for random programs: docs/strict.md says that
 * the first shows in the program's own comparison, and the others not at all. */
static void early_look(void)
{
	post(READ, 0, 64, SIG);
	poll(NULL, 0, 5);
	must(us.buf[0] != (char)0xee, "the bytes of the READ");
	wait_for(&us, 1);
}

static void changed_back(void)
{
	post(WRITE, 0, 64, SIG);
	us.buf[3]++;
	us.buf[3]--;
	wait_for(&us, 1);
}

static void wrong_bytes(void)
{
	post(WRITE, 64, 64, SIG); /* 0 was meant */
	wait_for(&us, 1);
}

static void forked(void);
static void ended(void);
static void left(void);
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
	{ "freed", freed, 0 },
	{ "orphan", orphan, 0 },
	{ "batch", batch, 21 },
	{ "forked", forked, 0 },
	{ "ended", ended, 0 },
	{ "left", left, 0 },
	{ "early-look", early_look, 0 },
	{ "changed-back", changed_back, 0 },
	{ "wrong-bytes", wrong_bytes, 0 },
};

/* ---- random programs ----------------------------------------------------- */

enum { SLOT = 64, SLOTS = 30, READABLE = 16, FIRST_ID = 100, MOST = 1000 };
static struct {
	int slot; /* its bytes, at us */
	enum ibv_wr_opcode op;
	bool last; /* of those that use the slot */
} asked[MOST];
static int n_asked, n_done, unpolled, receives_left;
static bool busy[SLOTS], broken;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % n;
}

/* The lower halves of both buffers are for the cases. */
static char *slot_of(const struct end *e, int slot)
{
	return e->buf + HALF + (size_t)slot * SLOT;
}

static int free_slot(void)
{
	for (int i = 0, slot = (int)rnd(SLOTS); i < SLOTS; i++)
		if (!busy[(slot + i) % SLOTS])
			return (slot + i) % SLOTS;
	return -1;
}

/* The request and all before it are complete: are the bytes right? */
static void done(int to)
{
	for (; n_done <= to; n_done++) {
		int slot = asked[n_done].slot, from = slot % READABLE;
		const char *ours = slot_of(&us, slot);
		if (asked[n_done].op == READ && !broken)
			must(!memcmp(ours, slot_of(&peer, from), SLOT),
			     "READ: its bytes");
		if (asked[n_done].last)
			busy[slot] = false;
	}
}

static int take(int n)
{
	struct ibv_wc wc[4];
	int got = ibv_poll_cq(us.cq, n, wc);

	for (int i = 0; i < got; i++) {
		must(broken || !wc[i].status, ibv_wc_status_str(wc[i].status));
		if (wc[i].wr_id >= FIRST_ID)
			done((int)wc[i].wr_id - FIRST_ID);
	}
	return got;
}

static int signaled_left;

static void wait_until(int left)
{
	for (int ms = 0; signaled_left > left && ms < 10000;) {
		int got = take(1 + (int)rnd(4));
		if (got == 0 && !broken && rnd(4) == 0) {
			must(!ibv_req_notify_cq(us.cq, 0), "ibv_req_notify_cq");
			while ((got = take(4)) > 0)
				signaled_left -= got;
			struct pollfd p = { channel->fd, POLLIN, 0 };
			if (signaled_left > left) {
				must(poll(&p, 1, 10000) == 1, "no event");
				get_event();
				ibv_ack_cq_events(us.cq, 1);
			}
			continue;
		}
		signaled_left -= got;
		signaled_left -= gone;
		gone = 0;
		if (got == 0)
			ms += poll(NULL, 0, 1) == 0;
	}
}

/* One request more for the list; false: there is no room. */
static bool draw(struct ibv_send_wr *w, struct ibv_sge *sge, bool *again)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD
	};
	int before = n_asked - 1, in_queue = n_asked - n_done;
	int slot = *again ? asked[before].slot : free_slot();
	enum ibv_wr_opcode op = *again ? WRITE : ops[rnd(5)];
	bool takes = op == SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t len = op == ADD ? 8 : SLOT;

	/* The cases need places, too. */
	if (slot < 0 || in_queue >= (int)us.cap.max_send_wr - 2 ||
	    n_asked == MOST || (takes && receives_left == 0))
		return false;
	receives_left -= takes;
	*sge = (struct ibv_sge){ (uintptr_t)slot_of(&us, slot), len,
				 us.mr->lkey };
	*w = request(op, sge);
	w->wr_id = FIRST_ID + (uint64_t)n_asked;
	w->send_flags = rnd(3) == 0 || in_queue >= 3 ? SIG : 0;
	w->send_flags |= rnd(4) == 0 ? IBV_SEND_FENCE : 0;
	w->send_flags |= takes && rnd(2) ? IBV_SEND_SOLICITED : 0;
	if (*again)
		w->send_flags |= IBV_SEND_FENCE;
	else if (op != READ && op != ADD)
		memset(slot_of(&us, slot), 'A' + n_asked % 50, len);
	if (op == ADD)
		w->wr.atomic.remote_addr = (uintptr_t)peer.buf + 512;
	else
		w->wr.rdma.remote_addr = (uintptr_t)slot_of(
			&peer, op == READ ? slot % READABLE : slot);
	if (op == WRITE && !*again && slot >= READABLE && rnd(3) == 0) {
		w->send_flags |= IBV_SEND_INLINE;
		sge->length = 32;
	}
	if (op != READ && op != ADD && slot < READABLE) {
		/* these bytes of the peer are read: write beyond them */
		if (op != SEND)
			w->wr.rdma.remote_addr = (uintptr_t)peer.buf + 1024;
	}
	asked[n_asked].slot = slot;
	asked[n_asked].op = op;
	asked[n_asked].last = true;
	if (*again)
		asked[before].last = false;
	busy[slot] = true;
	*again = op == READ && rnd(2) == 0;
	n_asked++;
	signaled_left += (w->send_flags & SIG) != 0;
	return true;
}

static void take_at_peer(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(peer.cq, 1, &wc) == 1) {
		must(broken || !wc.status, "a receive");
		unpolled--;
	}
}

static void random_program(uint64_t seed, size_t fault)
{
	int steps, at;

	state = seed * 2654435761 + 12345;
	for (int i = 0; i < SLOTS; i++)
		memset(slot_of(&peer, i), 'a' + i % 26, SLOT);
	steps = 4 + (int)rnd(20);
	at = (int)rnd((unsigned)steps);
	for (int i = 0; i < steps; i++) {
		struct ibv_send_wr w[4], *bad;
		struct ibv_sge sge[4];
		bool again = false;
		int n = 0, most = 1 + (int)rnd(4);

		if (i == at && fault) {
			broken = true;
			cases[fault].run();
			if (cases[fault].run == not_polled)
				return;
			if (us.qp->state == IBV_QPS_ERR || rnd(2))
				break;
		}
		/* A place is free when the completion was polled. */
		for (; unpolled < 3 && !broken; unpolled++, receives_left++)
			receive(&peer, 1536 + rnd(4) * SLOT, SLOT);
		while (n < most && draw(&w[n], &sge[n], &again))
			n++;
		for (int k = 0; k + 1 < n; k++)
			w[k].next = &w[k + 1];
		if (n && ibv_post_send(us.qp, w, &bad)) {
			must(broken, "ibv_post_send");
			break;
		}
		wait_until((int)rnd(3));
		take_at_peer();
	}
	if (signaled_left == 0 && n_asked > n_done && !broken) {
		struct ibv_sge sge = here(0, 8);
		struct ibv_send_wr w = request(WRITE, &sge);
		w.wr_id = FIRST_ID + (uint64_t)n_asked - 1;
		signaled_left++;
		must(!try_post(w), "the last post");
	}
	wait_until(0);
	must(signaled_left == 0 || broken, "completions did not come");
	take_at_peer();
}

static void free_all(void)
{
	free_end(&us);
	free_end(&peer);
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	must(!ibv_close_device(ctx), "ibv_close_device");
}

static void *all_right(void *unused)
{
	right();
	free_all();
	return unused;
}

/* Room for so many receives is asked of us. */
static void set_up(uint32_t receives)
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
	make_end(&us, receives);
	make_end(&peer, 3);
	to_init(&us);
	to_init(&peer);
	to_rts(&us, &peer);
	to_rts(&peer, &us);
}

/* What its parent has under way is not the child's. */
static void forked(void)
{
	struct ibv_context *copy = ctx;
	char *old = us.buf;
	int status;

	receive(&us, 0, LEN);
	fflush(stdout);
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0) {
		set_up(3);
		free(us.buf);
		must(!ibv_dereg_mr(us.mr), "ibv_dereg_mr");
		us.buf = old;
		us.mr = ibv_reg_mr(pd, old, LEN, ALL);
		must(us.mr != NULL, "ibv_reg_mr");
		post(WRITE, 0, 64, SIG);
		wait_for(&us, 1);
		free_all();
		must(!ibv_close_device(copy), "ibv_close_device");
		exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && status == 0, "the child");
}

/* A signal comes in the middle of strict, which sums up bytes, and its handler ends all. */
static void leave(__attribute__((unused)) int signal)
{
	/* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) many do */
	exit(0);
}
static void ended(void)
{
	signal(SIGSEGV, leave);
	must(!mprotect(us.buf, LEN, PROT_NONE), "mprotect");
	post(WRITE, 0, 64, SIG);
	must(0, "no signal");
}

/* The program ends while another thread polls. */
static void *poll_on(void *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) >= 0)
		;
	return NULL;
}
static void left(void)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, poll_on, peer.cq), "thread");
	post(WRITE, 0, 64, SIG);
	usleep(100 * 1000);
	exit(0);
}

static void run(size_t i, uint64_t seed)
{
	pthread_t thread;

	if (cases[i].run == rd_atomic)
		depth = 0;
	set_up(cases[i].receives ? cases[i].receives : 3);
	if (seed)
		random_program(seed, i);
	else if (cases[i].run != right)
		cases[i].run();
	else { /* a process whose first thread has ended has no memory by its pid */
		must(!pthread_create(&thread, NULL, all_right, NULL), "thread");
		pthread_exit(NULL);
	}
	free_all();
}

/* In a process of its own: strict reports each fault once. */
static void run_random(uint64_t seed, size_t fault)
{
	char text[20], said[8192], *line = said, *end;
	int fds[2], status;
	size_t len = 0;
	ssize_t got;

	must(!pipe(fds), "pipe");
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0) {
		snprintf(text, sizeof text, "%lu", (unsigned long)seed);
		setenv("STRICT_SEED", text, 1);
		alarm(60);
		dup2(fds[1], 2);
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		run(fault, seed);
		exit(0);
	}
	close(fds[1]);
	while (len < sizeof said - 1 &&
	       (got = read(fds[0], said + len, sizeof said - 1 - len)) > 0)
		len += (size_t)got;
	said[len] = 0;
	close(fds[0]);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	printf("%lu %s %d", (unsigned long)seed, cases[fault].name,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (strncmp(line, "strict: #", 9) == 0)
			continue;
		if (strncmp(line, "strict: ", 8) == 0)
			printf(" %.*s", (int)strcspn(line + 8, ":"), line + 8);
		else
			printf(" \"%s\"", line);
	}
	puts("");
}

int main(int argc, char **argv)
{
	/* All, and those of tests/strict; behind "freed" they are in no random program. */
	const size_t all = sizeof cases / sizeof *cases, n = all - 3;

	if (argc == 4) {
		bool faulty = strcmp(argv[1], "faulty") == 0;
		uint64_t to = strtoull(argv[3], NULL, 10);
		for (uint64_t i = strtoull(argv[2], NULL, 10); i < to; i++) {
			fflush(stdout);
			size_t fault =
				i % 40 == 0 ? n + i / 40 % 3 : 1 + i % (n - 6);
			run_random(i, faulty ? fault : 0);
		}
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (argc < 2)
			puts(cases[i].name);
		else if (strcmp(cases[i].name, argv[1]) == 0) {
			run(i, 0);
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
