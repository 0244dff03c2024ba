/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/hooks.c - the functions that a program calls instead of those of libibverbs:
 * some by their name, others through the context that ibv_open_device returns.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "strict.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#define CALLER __builtin_return_address(0)
/* The function of that name behind us. */
#define NEXT(name) ((__typeof__(&(name)))next_function(#name))

/* libibverbs calls some of its functions by name, that is, us. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct obj *objects[KINDS];
static uint64_t state;
bool behaves, shadowing;

void lock(void)
{
	pthread_mutex_lock(&mutex);
}

void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

void *next_function(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) { /* libibverbs came by dlopen() */
		void *lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
		f = lib ? dlsym(lib, name) : NULL;
	}
	if (!f)
		abort();
	return f;
}

unsigned dice(unsigned n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % n;
}

/* ---- what the program has ------------------------------------------------ */

void *find(enum kind kind, const void *key)
{
	struct obj *o = objects[kind];

	while (o && o->key != key)
		o = o->next;
	return o;
}

void *add(enum kind kind, const void *key, struct ibv_context *ctx, size_t size,
	  void *caller)
{
	struct obj *o = calloc(1, size);

	if (!o)
		abort();
	*o = (struct obj){ objects[kind], key, kind, ctx, trace_from(caller) };
	objects[kind] = o;
	return o;
}

void drop(void *obj)
{
	struct obj *o = obj, **p = &objects[o->kind];

	while (*p != o)
		p = &(*p)->next;
	*p = o->next;
	free(o);
}

void *any(enum kind kind, bool (*f)(void *obj, void *arg), void *arg)
{
	struct obj *o = objects[kind];

	while (o && !f(o, arg))
		o = o->next;
	return o;
}

const struct ibv_context_ops *real(struct ibv_context *ctx)
{
	return &((struct device *)find(DEVICE, ctx))->ops;
}

/* One line for each object of a device that is closed before them. */
static void report_left(const struct ibv_context *ctx)
{
	static const char *const what[KINDS] = {
		[PD] = "a PD was allocated and never deallocated",
		[REGION] = "a region was registered and never deregistered",
		[WINDOW] = "a window was allocated and never deallocated",
		[CHANNEL] = "a completion channel was never destroyed",
		[CQ] = "a CQ was never destroyed",
		[SRQ] = "an SRQ was never destroyed",
		[QP] = "a QP was never destroyed",
	};

	for (int k = PD; k < KINDS; k++)
		for (struct obj *o = objects[k]; o; o = o->next)
			if (o->ctx == ctx)
				report("NOT-FREED", &o->made, NULL, "%s",
				       what[k]);
}

/* The QP is destroyed, or the program ends: was all polled that was asked for? */
static bool report_not_polled(void *obj, void *from)
{
	const struct qp *qp = obj;
	struct req *r = qp->state == IBV_QPS_RTS ? qp->sq.first : NULL;

	while (r && !r->cq)
		r = r->next;
	if (r)
		report("NOT-POLLED", from ? from : &r->from, r,
		       "the completion of a request was never polled");
	return false;
}

static unsigned async_events;

static bool look_at_sends(void *qp, void *arg)
{
	(void)arg;
	look_at_left(&((struct qp *)qp)->sq);
	return false;
}

static void at_end(int status, void *arg)
{
	struct trace nowhere = { 0 };

	(void)arg;
	if (status != 0 || pthread_mutex_trylock(&mutex))
		return;
	any(QP, look_at_sends, NULL);
	if (async_events)
		report("EVENT-NOT-ACKED", &nowhere, NULL,
		       "%u asynchronous events were never acknowledged",
		       async_events);
	any(QP, report_not_polled, NULL);
	unlock();
}

/* What cannot go because something else uses it. */
static int in_use(int rc, const char *what, void *caller)
{
	struct trace t = trace_from(caller);

	if (rc == EBUSY)
		report("IN-USE", &t, NULL,
		       "%s is to go while something still uses it", what);
	return rc;
}

/* What was made, if it was; nothing of it but its kind is looked at. */
static void keep(enum kind kind, const void *key, struct ibv_context *ctx,
		 void *caller)
{
	lock();
	if (key)
		add(kind, key, ctx, sizeof(struct obj), caller);
	unlock();
}

static int give_back(enum kind kind, const void *key, int rc, const char *what,
		     void *caller)
{
	struct obj *o = find(kind, key);

	in_use(rc, what, caller);
	if (rc == 0 && o)
		drop(o);
	unlock();
	return rc;
}

/* ---- PD, region, window -------------------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = NEXT(ibv_alloc_pd)(ctx);

	keep(PD, pd, ctx, CALLER);
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	lock();
	return give_back(PD, pd, NEXT(ibv_dealloc_pd)(pd), "a PD", CALLER);
}

static struct ibv_mr *have_region(struct ibv_mr *v, uint64_t iova,
				  unsigned access, void *caller)
{
	enum { LARGEST = 1 << 30 };
	char byte;

	if (!v)
		return v;
	lock();
	if (shadowing || find(REGION, v)) {
		unlock();
		return v;
	}
	struct region *mr = add(REGION, v, v->context, sizeof *mr, caller);
	struct iovec to = { &byte, 1 }, from = { v->addr, 1 };
	mr->v = v;
	mr->addr = v->addr;
	mr->length = v->length;
	mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	mr->access = access;
	mr->opaque = v->length > LARGEST || (access & IBV_ACCESS_ON_DEMAND) ||
		     process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1;
	unlock();
	return v;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	return have_region(NEXT(ibv_reg_mr)(pd, addr, length, access),
			   (uintptr_t)addr, (unsigned)access, CALLER);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
			       uint64_t iova, int access)
{
	return have_region(
		NEXT(ibv_reg_mr_iova)(pd, addr, length, iova, access), iova,
		(unsigned)access, CALLER);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned access)
{
	return have_region(
		NEXT(ibv_reg_mr_iova2)(pd, addr, length, iova, access), iova,
		access, CALLER);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t iova, int fd,
				 int access)
{
	return have_region(
		NEXT(ibv_reg_dmabuf_mr)(pd, offset, length, iova, fd, access),
		iova, (unsigned)access, CALLER);
}

int ibv_dereg_mr(struct ibv_mr *v)
{
	struct trace from = trace_from(CALLER);
	struct region *mr;

	lock();
	mr = find(REGION, v);
	if (mr)
		forget_region(mr, &from);
	int rc = in_use(NEXT(ibv_dereg_mr)(v), "a region", CALLER);
	if (mr) {
		mr->shadow = NULL;
		if (rc == 0)
			drop(mr);
	}
	unlock();
	return rc;
}

int ibv_rereg_mr(struct ibv_mr *v, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access)
{
	struct trace from = trace_from(CALLER);
	struct region *mr;

	lock();
	mr = find(REGION, v);
	if (mr)
		forget_region(mr, &from);
	int rc = NEXT(ibv_rereg_mr)(v, flags, pd, addr, length, access);
	if (mr) {
		mr->shadow = NULL;
		mr->addr = v->addr;
		mr->length = v->length;
		if (rc == 0 && (flags & IBV_REREG_MR_CHANGE_TRANSLATION))
			mr->iova = (uintptr_t)addr;
		if (rc == 0 && (flags & IBV_REREG_MR_CHANGE_ACCESS))
			mr->access = (unsigned)access;
	}
	unlock();
	return rc;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = real(pd->context)->alloc_mw(pd, type);

	keep(WINDOW, mw, pd->context, CALLER);
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	lock();
	return give_back(WINDOW, mw, real(mw->context)->dealloc_mw(mw),
			 "a window", CALLER);
}

/* ---- CQ and channel ------------------------------------------------------ */

static struct cq *have_cq(struct ibv_cq *v, void *caller)
{
	struct cq *cq = NULL;

	lock();
	if (v) {
		cq = add(CQ, v, v->context, sizeof *cq, caller);
		cq->v = v;
	}
	unlock();
	return cq;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *ch = NEXT(ibv_create_comp_channel)(ctx);

	keep(CHANNEL, ch, ctx, CALLER);
	return ch;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	lock();
	return give_back(CHANNEL, ch, NEXT(ibv_destroy_comp_channel)(ch),
			 "a channel", CALLER);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *v =
		NEXT(ibv_create_cq)(ctx, cqe, context, channel, vector);

	have_cq(v, CALLER);
	return v;
}

int ibv_destroy_cq(struct ibv_cq *v)
{
	struct trace from = trace_from(CALLER);

	lock();
	struct cq *cq = find(CQ, v);
	for (int i = 0; cq && cq->acks != cq->events && i < 100; i++) {
		unlock(); /* another thread may be about to do it */
		usleep(10 * 1000);
		lock();
	}
	if (cq && cq->acks != cq->events) {
		report("EVENT-NOT-ACKED", &from, NULL,
		       "%u events of the CQ were taken and %u acknowledged: "
		       "ibv_destroy_cq waits for ever",
		       cq->events, cq->acks);
		/* The library does not know of those that came for nothing. */
		unsigned owed =
			cq->acks < cq->events ? cq->events - cq->acks : 0;
		if (owed > cq->spurious)
			NEXT(ibv_ack_cq_events)(v, owed - cq->spurious);
	}
	int rc = in_use(NEXT(ibv_destroy_cq)(v), "a CQ", CALLER);
	if (rc == 0 && cq) {
		free(cq->held);
		drop(cq);
	}
	unlock();
	return rc;
}

/* Takes completions from the device until we hold that many, if it has them; how many
 * came, or the device's error. */
static int take(struct cq *cq, unsigned want)
{
	int got = 0;

	if (cq->room < want) {
		cq->room = want;
		cq->held = realloc(cq->held, want * sizeof *cq->held);
		if (!cq->held)
			abort();
	}
	if (want > cq->n_held)
		got = real(cq->o.ctx)->poll_cq(cq->v, (int)(want - cq->n_held),
					       cq->held + cq->n_held);
	return got;
}

static int poll_cq(struct ibv_cq *v, int n, struct ibv_wc *wc)
{
	lock();
	struct cq *cq = find(CQ, v);
	unsigned want = n > 0 ? (unsigned)n : 0, k;
	int got = cq ? take(cq, want) : real(v->context)->poll_cq(v, n, wc);
	for (int i = 0; !cq && i < got; i++)
		finish(&wc[i]);
	if (!cq || got < 0) {
		unlock();
		return got;
	}
	if (behaves && cq->idle && got > 0)
		cq->late = dice(3);
	cq->idle = !got && !cq->n_held;
	cq->n_held += (unsigned)got;
	k = cq->n_held < want ? cq->n_held : want;
	if (behaves && !cq->armed && k) {
		if (cq->late)
			k = 0, cq->late--;
		else if (dice(4) == 0)
			k = 1 + dice(k);
	}
	memcpy(wc, cq->held, k * sizeof *wc);
	cq->n_held -= k;
	memmove(cq->held, cq->held + k, cq->n_held * sizeof *wc);
	for (unsigned i = 0; i < k; i++)
		finish(&wc[i]);
	cq->polled = true;
	cq->missed -= k < cq->missed ? k : cq->missed;
	unlock();
	return (int)k;
}

static bool has_due(void *obj, void *arg)
{
	const struct qp *qp = obj;
	bool due = qp->recv_cq == arg && qp->rq->n;

	if (qp->send_cq == arg)
		for (struct req *r = qp->sq.first; r; r = r->next)
			due |= r->cq != NULL;
	return due && qp->state >= IBV_QPS_RTR; /* before, nothing can come */
}

/* What the device has by now raises no event. */
static int req_notify_cq(struct ibv_cq *v, int solicited_only)
{
	lock();
	struct cq *cq = find(CQ, v);
	if (cq) {
		int got = cq->ex.start_poll ? 0 : take(cq, cq->n_held + 16);
		if (got > 0)
			cq->n_held += (unsigned)got;
		cq->missed = cq->n_held;
		cq->polled = !cq->missed && !any(QP, has_due, cq);
		cq->armed = true;
	}
	int rc = real(v->context)->req_notify_cq(v, solicited_only);
	unlock();
	return rc;
}

struct on_channel {
	struct ibv_comp_channel *channel;
	struct trace *from;
	struct cq *armed;
};

static bool look_before_sleep(void *obj, void *arg)
{
	struct cq *cq = obj;
	struct on_channel *c = arg;

	if (cq->v->channel != c->channel)
		return false;
	if (cq->armed && (cq->missed || !cq->polled))
		report("ARMED-NOT-POLLED", c->from, NULL,
		       "the CQ was armed and not polled once more: what came "
		       "before that raises no event");
	if (cq->armed)
		c->armed = cq;
	return false;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **v,
		     void **context)
{
	struct trace from = trace_from(CALLER);
	struct on_channel c = { channel, &from, NULL };

	lock();
	any(CQ, look_before_sleep, &c);
	if (behaves && c.armed && dice(8) == 0) { /* it may come for nothing */
		c.armed->spurious++;
		c.armed->events++;
		*v = c.armed->v;
		*context = (*v)->cq_context;
		unlock();
		return 0;
	}
	unlock();
	int rc = NEXT(ibv_get_cq_event)(channel, v, context);
	lock();
	struct cq *cq = rc ? NULL : find(CQ, *v);
	if (cq) {
		cq->events++;
		cq->armed = false;
	}
	unlock();
	return rc;
}

void ibv_ack_cq_events(struct ibv_cq *v, unsigned n)
{
	lock();
	struct cq *cq = find(CQ, v);
	if (cq) {
		cq->acks += n;
		unsigned ours = n < cq->spurious ? n : cq->spurious;
		cq->spurious -= ours;
		n -= ours;
	}
	unlock();
	if (n)
		NEXT(ibv_ack_cq_events)(v, n);
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	int rc = NEXT(ibv_get_async_event)(ctx, event);

	lock();
	async_events += rc == 0;
	unlock();
	return rc;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	NEXT(ibv_ack_async_event)(event); /* who destroys a QP waits for it */
	lock();
	async_events -= async_events > 0;
	unlock();
}

/* A CQ of ibv_create_cq_ex, which is polled through functions of its own. */
static int finish_ex(struct ibv_cq_ex *x, int rc)
{
	struct cq *cq = find(CQ, x);
	struct ibv_wc wc = { .wr_id = x->wr_id, .status = x->status };

	if (rc == 0 && x->status == IBV_WC_SUCCESS)
		wc.opcode = x->read_opcode(x);
	if (rc == 0) {
		finish(&wc);
		x->wr_id = wc.wr_id;
	}
	cq->polled = true;
	unlock();
	return rc;
}

static int start_poll(struct ibv_cq_ex *x, struct ibv_poll_cq_attr *attr)
{
	lock();
	return finish_ex(x, ((struct cq *)find(CQ, x))->ex.start_poll(x, attr));
}

static int next_poll(struct ibv_cq_ex *x)
{
	lock();
	return finish_ex(x, ((struct cq *)find(CQ, x))->ex.next_poll(x));
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *ctx,
				      struct ibv_cq_init_attr_ex *attr)
{
	struct device *d = find(DEVICE, ctx);
	struct ibv_cq_ex *x = d->ex.create_cq_ex(ctx, attr);
	struct cq *cq = have_cq((struct ibv_cq *)x, CALLER);

	if (!cq)
		return x;
	cq->ex = *x;
	x->start_poll = start_poll;
	x->next_poll = next_poll;
	return x;
}

/* ---- SRQ and QP ---------------------------------------------------------- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *v = NEXT(ibv_create_srq)(pd, attr);

	lock();
	if (v) {
		struct srq *s = add(SRQ, v, v->context, sizeof *s, CALLER);
		s->v = v;
		s->rq.max = attr->attr.max_wr;
	}
	unlock();
	return v;
}

int ibv_destroy_srq(struct ibv_srq *v)
{
	lock();
	struct srq *s = find(SRQ, v);
	int rc = in_use(NEXT(ibv_destroy_srq)(v), "an SRQ", CALLER);
	if (rc == 0 && s) {
		give_up(&s->rq);
		drop(s);
	}
	unlock();
	return rc;
}

static struct ibv_qp *have_qp(struct ibv_qp *v,
			      const struct ibv_qp_init_attr *attr, void *caller)
{
	struct srq *srq;

	if (!v)
		return v;
	lock();
	struct qp *qp = add(QP, v, v->context, sizeof *qp, caller);
	qp->v = v;
	qp->cap = attr->cap;
	qp->sq.max = attr->cap.max_send_wr;
	qp->own_rq.max = attr->cap.max_recv_wr;
	srq = v->srq ? find(SRQ, v->srq) : NULL;
	qp->rq = srq ? &srq->rq : &qp->own_rq;
	qp->send_cq = find(CQ, v->send_cq);
	qp->recv_cq = find(CQ, v->recv_cq);
	qp->all_signaled = attr->sq_sig_all;
	qp->state = IBV_QPS_RESET;
	unlock();
	return v;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return have_qp(NEXT(ibv_create_qp)(pd, attr), attr, CALLER);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *ctx,
				   struct ibv_qp_init_attr_ex *attr)
{
	struct device *d = find(DEVICE, ctx);
	struct ibv_qp *v = d->ex.create_qp_ex(ctx, attr);

	have_qp(v, (struct ibv_qp_init_attr *)attr, CALLER);
	if (v && (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		hook_batch(find(QP, v), attr->send_ops_flags);
	return v;
}

int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *attr, int mask)
{
	struct trace from = trace_from(CALLER);

	lock();
	struct qp *qp = find(QP, v);
	struct device *d = find(DEVICE, v->context);
	int depth = (mask & IBV_QP_MAX_QP_RD_ATOMIC) ? attr->max_rd_atomic : -1;
	int dest = (mask & IBV_QP_MAX_DEST_RD_ATOMIC) ? attr->max_dest_rd_atomic
						      : -1;
	if (d && (depth > d->can.max_qp_init_rd_atom ||
		  dest > d->can.max_qp_rd_atom))
		report("RD-ATOMIC", &from, NULL,
		       "max_rd_atomic or max_dest_rd_atomic is more than the "
		       "device has (%d, %d)",
		       d->can.max_qp_init_rd_atom, d->can.max_qp_rd_atom);
	if (dest == 0 && qp &&
	    (qp->access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)))
		report("RD-ATOMIC", &from, NULL,
		       "the peer may READ or do atomics, and "
		       "max_dest_rd_atomic is 0");
	int rc = NEXT(ibv_modify_qp)(v, attr, mask);
	if (rc == 0 && qp) {
		if (mask & IBV_QP_STATE)
			qp->state = attr->qp_state;
		if (depth >= 0)
			qp->rd_atomic = (unsigned)depth;
		if (mask & IBV_QP_ACCESS_FLAGS)
			qp->access = attr->qp_access_flags;
		if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET) {
			give_up(&qp->sq);
			give_up(&qp->own_rq);
		}
	}
	unlock();
	return rc;
}

int ibv_destroy_qp(struct ibv_qp *v)
{
	struct trace from = trace_from(CALLER);

	lock();
	struct qp *qp = find(QP, v);
	if (qp)
		report_not_polled(qp, &from);
	int rc = in_use(NEXT(ibv_destroy_qp)(v), "a QP", CALLER);
	if (rc == 0 && qp) {
		give_up(&qp->sq);
		give_up(&qp->own_rq);
		drop(qp);
	}
	unlock();
	return rc;
}

static int post_send(struct ibv_qp *v, struct ibv_send_wr *list,
		     struct ibv_send_wr **bad)
{
	lock();
	struct qp *qp = find(QP, v); /* vendors' calls make others */
	int rc = qp ? send_list(qp, list, bad, CALLER)
		    : real(v->context)->post_send(v, list, bad);
	unlock();
	return rc;
}

static int post_recv(struct ibv_qp *v, struct ibv_recv_wr *list,
		     struct ibv_recv_wr **bad)
{
	lock();
	struct qp *qp = find(QP, v);
	int rc = qp ? recv_list(qp, NULL, list, bad, CALLER)
		    : real(v->context)->post_recv(v, list, bad);
	unlock();
	return rc;
}

static int post_srq_recv(struct ibv_srq *v, struct ibv_recv_wr *list,
			 struct ibv_recv_wr **bad)
{
	lock();
	struct srq *srq = find(SRQ, v);
	int rc = srq ? recv_list(NULL, srq, list, bad, CALLER)
		     : real(v->context)->post_srq_recv(v, list, bad);
	unlock();
	return rc;
}

/* ---- device -------------------------------------------------------------- */

static void begin(void)
{
	const char *seed = getenv("STRICT_SEED");

	if (state)
		return;
	on_exit(at_end, NULL);
	if (seed)
		state = strtoull(seed, NULL, 10);
	else if (getrandom(&state, 4, 0) != 4)
		state = 1;
	say_seed(state);
	behaves = state != 0; /* seed 0: as the device does */
	state |= 1ull << 63;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *ctx = NEXT(ibv_open_device)(device);

	if (!ctx)
		return ctx;
	lock();
	begin();
	struct device *d = add(DEVICE, ctx, ctx, sizeof *d, CALLER);
	struct verbs_context *ex = verbs_get_ctx(ctx);
	d->ops = ctx->ops;
	NEXT(ibv_query_device)(ctx, &d->can);
	ctx->ops.alloc_mw = alloc_mw;
	ctx->ops.dealloc_mw = dealloc_mw;
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = req_notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
	ctx->ops.post_srq_recv = post_srq_recv;
	if (ex) {
		d->ex = *ex;
		ex->create_qp_ex = create_qp_ex;
		ex->create_cq_ex = create_cq_ex;
	}
	unlock();
	return ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	lock();
	struct obj *o = find(DEVICE, ctx);
	report_left(ctx);
	if (o) {
		for (int k = PD; k < KINDS; k++)
			for (struct obj *p = objects[k], *next; p; p = next) {
				next = p->next;
				if (p->ctx == ctx)
					drop(p);
			}
		drop(o);
	}
	unlock();
	return NEXT(ibv_close_device)(ctx);
}
