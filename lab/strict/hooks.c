/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/hooks.c - the functions that a program calls instead of those of libibverbs:
 * some by their name, others through the context that ibv_open_device returns.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "strict.h"

/* libibverbs calls some of its functions by name, that is, us. */
pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static uint64_t state;
static bool behaves; /* late completions, short polls */
static pid_t self;   /* not that of a child, which has a copy of all this */
static _Atomic int async_events;

int lock(void) /* whose thread is not cancelled until it unlocks */
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	pthread_mutex_lock(&mutex);
	return was;
}

void unlock(const int *was)
{
	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(*was, NULL);
}

void *next_function(const char *name)
{
	/* Of a few there is one of 1.0, too, another ABI, which dlsym() would find first. */
	void *lib, *f = dlvsym(RTLD_NEXT, name, "IBVERBS_1.1")
				?: dlsym(RTLD_NEXT, name);

	if (!f && (lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD)))
		f = dlsym(lib, name); /* it came by dlopen() */
	if (!f)
		abort();
	return f;
}

static unsigned dice(unsigned n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % n;
}

/* A function that does what the one behind us does, and then what we do with the value v
 * that this returned. */
#define HOOK(type, name, params, call, ...) \
	type name params                    \
	{                                   \
		LOCKED;                     \
		__auto_type v = call;       \
		__VA_ARGS__;                \
		return v;                   \
	}
#define NAMED(type, name, params, args, ...) \
	HOOK(type, name, params, NEXT(name) args, __VA_ARGS__)

/* ---- PD, region, window, channel ------------------------------------------ */

static void have_region(struct ibv_mr *v, uint64_t iova, int access)
{
	/* The device was opened behind us (dlsym), or this is called by one of us. */
	if (!v || !find(DEVICE, v->context) || find(REGION, v))
		return;
	struct region *mr = have(REGION, v);
	mr->iova = iova;
	mr->access = access;
	mr->opaque = access & IBV_ACCESS_ON_DEMAND || !readable(v->addr, 1);
	mr->direct = mr->opaque || v->length > 1 << 30;
	/* Two over the same bytes: one would not know what the other one brings. */
	for (struct region *m = NULL; (m = next_of(REGION, m));)
		if (m != mr && m->o.mr->addr < v->addr + v->length &&
		    v->addr < m->o.mr->addr + m->o.mr->length)
			m->direct = mr->direct = true;
}

/* ibv_rereg_mr is ibv_dereg_mr and ibv_reg_mr. */
static void region_again(struct ibv_mr *v, int flags, void *addr, int access)
{
	struct region *mr = find(REGION, v);

	if (!mr)
		return;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		mr->iova = (uintptr_t)addr;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		mr->access = access;
	const struct region now = *mr;
	gone(mr, 0);
	have_region(v, now.iova, now.access);
}

NAMED(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * ctx), (ctx),
      if (v) have(PD, v))
NAMED(int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd), gone(find(PD, pd), v))
/* They call the next one: that is us, unless libibverbs has -Bsymbolic-functions. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
NAMED(struct ibv_mr *, ibv_reg_mr,
      (struct ibv_pd * pd, void *addr, size_t len, int access),
      (pd, addr, len, access), have_region(v, (uintptr_t)addr, access))
NAMED(struct ibv_mr *, ibv_reg_mr_iova,
      (struct ibv_pd * pd, void *addr, size_t len, uint64_t iova, int access),
      (pd, addr, len, iova, access), have_region(v, iova, access))
NAMED(struct ibv_mr *, ibv_reg_mr_iova2,
      (struct ibv_pd * pd, void *addr, size_t len, uint64_t iova,
       unsigned access),
      (pd, addr, len, iova, access), have_region(v, iova, (int)access))
NAMED(struct ibv_mr *, ibv_reg_dmabuf_mr,
      (struct ibv_pd * pd, uint64_t offset, size_t len, uint64_t iova, int fd,
       int access),
      (pd, offset, len, iova, fd, access), have_region(v, iova, access))
NAMED(int, ibv_rereg_mr,
      (struct ibv_mr * mr, int flags, struct ibv_pd *pd, void *addr, size_t len,
       int access),
      (mr, flags, pd, addr, len, access),
      if (v == 0) region_again(mr, flags, addr, access))
NAMED(int, ibv_dereg_mr, (struct ibv_mr * mr), (mr), gone(find(REGION, mr), v))
HOOK(static struct ibv_mw *, alloc_mw,
     (struct ibv_pd * pd, enum ibv_mw_type type),
     real(pd->context)->alloc_mw(pd, type), if (v) have(WINDOW, v))
HOOK(static int, dealloc_mw, (struct ibv_mw * mw),
     real(mw->context)->dealloc_mw(mw), gone(find(WINDOW, mw), v))
NAMED(struct ibv_comp_channel *, ibv_create_comp_channel,
      (struct ibv_context * ctx), (ctx), if (v) have(CHANNEL, v))
NAMED(int, ibv_destroy_comp_channel, (struct ibv_comp_channel * ch), (ch),
      gone(find(CHANNEL, ch), v))

/* ---- CQ -------------------------------------------------------------------- */

/* Vendors' calls make some that we have not seen. */
static struct cq *cq_of(struct ibv_cq *v)
{
	return find(CQ, v) ?: have(CQ, v);
}

/* Without the lock: it waits until all events are acknowledged, perhaps by another thread. */
#define DESTROY(kind, name, type, before)      \
	int name(struct type *v)               \
	{                                      \
		struct obj *o = find(kind, v); \
                                               \
		before;                        \
		int rc = NEXT(name)(v);        \
		LOCKED;                        \
		gone(o, rc);                   \
		return rc;                     \
	}
/* Before it is destroyed: are they? Another thread has a second for it. */
static void acked(struct ibv_cq *v)
{
	/* libibverbs counts them, without our lock. */
	const volatile uint32_t *acks = &v->comp_events_completed;
	const struct cq *cq = find(CQ, v);

	for (int i = 0; cq && *acks != cq->events && i < 100; i++)
		usleep(10 * 1000);
	LOCKED;
	if (!cq || *acks == cq->events)
		return;
	report("EVENT-NOT-ACKED", NULL, NULL,
	       "%u events of the CQ were taken and %u acknowledged", cq->events,
	       *acks);
	NEXT(ibv_ack_cq_events)(v, cq->events - *acks); /* or back, mod 2^32 */
}

NAMED(struct ibv_cq *, ibv_create_cq,
      (struct ibv_context * ctx, int cqe, void *context,
       struct ibv_comp_channel *channel, int vector),
      (ctx, cqe, context, channel, vector), if (v) have(CQ, v))
DESTROY(CQ, ibv_destroy_cq, ibv_cq, acked(v))

/* Takes up to n more completions from the device; how many came, or its error. */
static int take(struct cq *cq, unsigned n)
{
	cq->held = realloc(cq->held, (cq->n_held + n + 1) * sizeof *cq->held);
	if (!cq->held)
		abort();
	int got = real(cq->o.ctx)->poll_cq(cq->o.cq, (int)n,
					   cq->held + cq->n_held);
	cq->n_held += got > 0 ? (unsigned)got : 0;
	return got;
}

static int poll_cq(struct ibv_cq *v, int n, struct ibv_wc *wc)
{
	LOCKED;
	struct cq *cq = cq_of(v);
	unsigned k = n > 0 ? (unsigned)n : 0;
	int got = take(cq, k);

	if (got < 0)
		return got;
	k = k < cq->n_held ? k : cq->n_held;
	if (behaves && k && !cq->armed && !cq->woken && !cq->ex.start_poll &&
	    dice(4) == 0)
		k = dice(k + 1);
	memcpy(wc, cq->held, k * sizeof *wc);
	cq->n_held -= k;
	memmove(cq->held, cq->held + k, cq->n_held * sizeof *wc);
	for (unsigned i = 0; i < k; i++)
		finish(&wc[i]);
	cq->polled = true;
	cq->begun |= k > 0;
	cq->woken &= k == (unsigned)n; /* not yet empty */
	cq->missed -= k < cq->missed ? k : cq->missed;
	return (int)k;
}

/* What the device has by now raises no event. */
static int req_notify_cq(struct ibv_cq *v, int solicited_only)
{
	LOCKED;
	struct cq *cq = cq_of(v);

	while (!cq->ex.start_poll && take(cq, 16) > 0)
		;
	cq->missed = cq->n_held;
	cq->polled = !cq->missed;
	/* May others come? Receives, if some have before: the peer has begun. */
	for (struct qp *qp = NULL; (qp = next_of(QP, qp));)
		if ((qp->sq.cq == cq && awaited(qp)) ||
		    (qp->rq.cq == cq && cq->begun &&
		     (qp->rq.n || qp->o.qp->srq)))
			cq->polled = false;
	cq->armed = true;
	cq->by = pthread_self();
	return real(v->context)->req_notify_cq(v, solicited_only);
}

/* A program is about to wait: will an event come? */
static void before_wait(const struct ibv_comp_channel *channel)
{
	LOCKED;
	if (fcntl(channel->fd, F_GETFL) & O_NONBLOCK)
		return;
	for (struct cq *cq = NULL; (cq = next_of(CQ, cq));)
		if (cq->o.cq->channel == channel && cq->armed &&
		    pthread_equal(cq->by, pthread_self()) &&
		    (cq->missed || !cq->polled))
			report("ARMED-NOT-POLLED", NULL, NULL,
			       "the CQ was armed and not polled once more: "
			       "what came before that raises no event");
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **v,
		     void **context)
{
	before_wait(channel);
	int rc = NEXT(ibv_get_cq_event)(channel, v, context);
	LOCKED;

	if (rc == 0)
		cq_of(*v)->armed = false, cq_of(*v)->woken = true,
		cq_of(*v)->events++;
	return rc;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	int rc = NEXT(ibv_get_async_event)(ctx, event);

	async_events += rc == 0;
	return rc;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	async_events--;
	NEXT(ibv_ack_async_event)(event); /* who destroys a QP waits for it */
}

/* A CQ of ibv_create_cq_ex is polled through functions of its own, without our lock: they
 * may wait for a thread that is between start_poll and end_poll. */
static int polled_ex(struct ibv_cq_ex *x, int rc)
{
	LOCKED;
	struct ibv_wc wc = { .wr_id = x->wr_id, .status = x->status };
	struct cq *cq = find(CQ, x);

	cq->polled = true, cq->begun |= rc == 0;
	if (rc != 0)
		return rc;
	if (wc.status == IBV_WC_SUCCESS)
		wc.opcode = x->read_opcode(x);
	finish(&wc);
	x->wr_id = wc.wr_id;
	return 0;
}
#define EX_CQ(x) ((struct cq *)find(CQ, x))->ex
static int start_poll(struct ibv_cq_ex *x, struct ibv_poll_cq_attr *attr)
{
	return polled_ex(x, EX_CQ(x).start_poll(x, attr));
}
static int next_poll(struct ibv_cq_ex *x)
{
	return polled_ex(x, EX_CQ(x).next_poll(x));
}

#define EX(ctx) ((struct device *)find(DEVICE, ctx))->was
HOOK(
	static struct ibv_cq_ex *, create_cq_ex,
	(struct ibv_context * ctx, struct ibv_cq_init_attr_ex *attr),
	EX(ctx).create_cq_ex(ctx, attr), if (v) {
		((struct cq *)have(CQ, v))->ex = *v;
		v->start_poll = start_poll;
		v->next_poll = next_poll;
	})

/* ---- SRQ and QP ------------------------------------------------------------ */

static struct qp *have_queues(enum kind kind, void *v,
			      const struct ibv_qp_init_attr *attr)
{
	struct qp *qp = have(kind, v);

	qp->state = kind == SRQ ? IBV_QPS_RTS : IBV_QPS_RESET;
	qp->num = kind == SRQ ? 0 : qp->o.qp->qp_num;
	qp->all_signaled = attr->sq_sig_all;
	qp->max_inline = attr->cap.max_inline_data;
	pthread_mutex_init(&qp->batching, NULL);
	qp->sq = (struct queue){ .qp = qp,
				 .cq = find(CQ, attr->send_cq),
				 .max = attr->cap.max_send_wr,
				 .max_sge = attr->cap.max_send_sge };
	qp->rq = (struct queue){ .qp = qp,
				 .cq = find(CQ, attr->recv_cq),
				 .recv = true,
				 .max = attr->cap.max_recv_wr,
				 .max_sge = attr->cap.max_recv_sge };
	TAILQ_INIT(&qp->sq.reqs);
	TAILQ_INIT(&qp->rq.reqs);
	return qp;
}

static void modified(struct ibv_qp *v, const struct ibv_qp_attr *attr, int mask,
		     int rc)
{
	struct qp *qp = find(QP, v);
	const bool depth = mask & IBV_QP_MAX_QP_RD_ATOMIC;
	const bool dest = mask & IBV_QP_MAX_DEST_RD_ATOMIC;
	struct ibv_device_attr can;

	if (qp && (depth || dest) &&
	    NEXT(ibv_query_device)(v->context, &can) == 0 &&
	    ((depth && attr->max_rd_atomic > can.max_qp_init_rd_atom) ||
	     (dest && attr->max_dest_rd_atomic > can.max_qp_rd_atom)))
		report("RD-ATOMIC", NULL, NULL,
		       "more READs at a time than the device has (%d, %d)",
		       can.max_qp_init_rd_atom, can.max_qp_rd_atom);
	if (!qp || rc != 0)
		return;
	if (depth)
		qp->rd_atomic = attr->max_rd_atomic;
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	if (qp->state == IBV_QPS_RESET)
		give_up(qp);
}

NAMED(struct ibv_srq *, ibv_create_srq,
      (struct ibv_pd * pd, struct ibv_srq_init_attr *attr), (pd, attr),
      if (v) have_queues(SRQ, v,
			 &(struct ibv_qp_init_attr){
				 .cap.max_recv_wr = attr->attr.max_wr,
				 .cap.max_recv_sge = attr->attr.max_sge }))
NAMED(int, ibv_modify_srq,
      (struct ibv_srq * srq, struct ibv_srq_attr *attr, int mask),
      (srq, attr, mask), struct qp *s = find(SRQ, srq);
      if (s && v == 0 && (mask & IBV_SRQ_MAX_WR)) s->rq.max = attr->max_wr)
DESTROY(SRQ, ibv_destroy_srq, ibv_srq, )
NAMED(struct ibv_qp *, ibv_create_qp,
      (struct ibv_pd * pd, struct ibv_qp_init_attr *attr), (pd, attr),
      if (v) have_queues(QP, v, attr))
HOOK(static struct ibv_qp *, create_qp_ex,
     (struct ibv_context * ctx, struct ibv_qp_init_attr_ex *attr),
     EX(ctx).create_qp_ex(ctx, attr),
     if (v) hook_batch(have_queues(QP, v, (void *)attr), attr))
NAMED(int, ibv_modify_qp,
      (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
      (qp, attr, mask), modified(qp, attr, mask, v))
DESTROY(QP, ibv_destroy_qp, ibv_qp, )

/* What a receive takes. */
static const struct ibv_send_wr message = { .opcode = IBV_WR_SEND };

/* Vendors' calls make QPs that we have not seen: their requests pass. */
#define POST(name, kind, object, queue, request, send)                     \
	static int name(struct object *v, struct request *w,               \
			struct request **bad)                              \
	{                                                                  \
		LOCKED;                                                    \
		struct qp *qp = find(kind, v);                             \
		int rc = qp ? 0 : real(v->context)->name(v, w, bad);       \
                                                                           \
		for (; qp && w && rc == 0; w = w->next) {                  \
			struct request one = *w;                           \
			struct req *r =                                    \
				have_request(&qp->queue, send, &one.wr_id, \
					     &one.sg_list, w->num_sge);    \
			one.next = NULL;                                   \
			rc = real(v->context)->name(v, &one, bad);         \
			if (rc) {                                          \
				bury(r);                                   \
				*bad = w;                                  \
			}                                                  \
		}                                                          \
		return rc;                                                 \
	}
POST(post_send, QP, ibv_qp, sq, ibv_send_wr, w)
POST(post_recv, QP, ibv_qp, rq, ibv_recv_wr, &message)
POST(post_srq_recv, SRQ, ibv_srq, rq, ibv_recv_wr, &message)

/* ---- device ---------------------------------------------------------------- */

static void at_end(int status, __attribute__((unused)) void *arg)
{
	/* Another thread has a second to leave. Has a signal's handler ended one of us? */
	const struct timespec until = { .tv_sec = time(NULL) + 2 };
	if (status != 0 || getpid() != self ||
	    pthread_mutex_timedlock(&mutex, &until) || mutex.__data.__count > 1)
		return;
	if (async_events != 0)
		report("EVENT-NOT-ACKED", NULL, NULL,
		       "%d asynchronous events were never acknowledged",
		       async_events);
	for (struct qp *qp = NULL; (qp = next_of(QP, qp));)
		report_not_polled(qp, NULL);
	pthread_mutex_unlock(&mutex);
}

static void in_child(void) /* another thread of the parent may have had it */
{
	mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	for (struct qp *qp = NULL; (qp = next_of(QP, qp));)
		qp->state = IBV_QPS_ERR; /* its parent polls */
	LIST_INIT(&uses); /* its memory may be where the parent's was */
	async_events = 0;
}

/* First of all, so that it comes behind what the program does at its end. */
static __attribute__((constructor)) void at_start(void)
{
	on_exit(at_end, NULL);
	pthread_atfork(NULL, NULL, in_child);
}

static void begin(void)
{
	const char *seed = getenv("STRICT_SEED");

	self = getpid();
	if (state)
		return;
	if (seed)
		state = strtoull(seed, NULL, 10);
	else if (getrandom(&state, 4, 0) != 4)
		state = 1;
	dprintf(2, "strict: # %s: STRICT_SEED=%lu\n",
		program_invocation_short_name, (unsigned long)state);
	behaves = state != 0; /* seed 0: as the device does */
	state |= 1ull << 63;
}

static void have_device(struct ibv_context *ctx)
{
	struct device *d = have(DEVICE, ctx);
	struct verbs_context *ex = verbs_get_ctx(ctx); /* all are extended */

	begin();
	d->opener = self;
	d->was = *ex;
	ctx->ops.alloc_mw = alloc_mw;
	ctx->ops.dealloc_mw = dealloc_mw;
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = req_notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
	ctx->ops.post_srq_recv = post_srq_recv;
	ex->create_qp_ex = create_qp_ex;
	ex->create_cq_ex = create_cq_ex;
}

NAMED(struct ibv_context *, ibv_open_device, (struct ibv_device * device),
      (device), if (v) have_device(v))

int ibv_close_device(struct ibv_context *ctx)
{
	LOCKED;
	const struct device *d = find(DEVICE, ctx);
	if (d && d->opener == getpid())
		drop_all(ctx);
	return NEXT(ibv_close_device)(ctx);
}
