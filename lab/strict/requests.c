/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/requests.c - what is under way.
 *
 * Each request that is posted is kept until its completion, or that of a later one of
 * the same send queue, was polled: until then the device may use its memory and its
 * place in the queue. The device gets our wr_id, which is the address of what we keep.
 *
 * What the device writes (receives, READs, atomics) it writes into a shadow of the
 * region. The program's buffer holds poison until the completion is polled.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "strict.h"

/* Addresses have 48 bits: so a wr_id that is not ours is known. */
static const uint64_t ours = 0x57a1ull << 48;
struct uses uses;

static uint64_t sum_of(const char *p, size_t len)
{
	uint64_t sum = len;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t word = 0;
		memcpy(&word, p + i, len - i < 8 ? len - i : 8);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15;
		sum ^= sum >> 29;
	}
	return sum;
}

bool readable(char *at, size_t len)
{
	char bytes[2];
	struct iovec to = { bytes, 2 },
		     from[] = { { at, 1 }, { at + len - 1, 1 } };
	const size_t into = (uintptr_t)at % (size_t)getpagesize();

	return process_vm_readv(gettid(), &to, 1, from, 2, 0) == 2 &&
	       msync(at - into, into + len, MS_ASYNC) == 0; /* no hole */
}

/* ---- regions ------------------------------------------------------------ */

/* The device writes there instead. As large as the region, so that offsets agree. */
static bool make_shadow(struct region *mr)
{
	const size_t len = mr->o.mr->length;

	if (!mr->shadow && !mr->direct &&
	    len / 4096 <= (size_t)sysconf(_SC_AVPHYS_PAGES) / 2) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mr->to_shadow = (char *)p - (char *)mr->o.mr->addr;
		mr->shadow = NEXT(ibv_reg_mr_iova2)(mr->o.mr->pd, p, len,
						    (uintptr_t)p,
						    IBV_ACCESS_LOCAL_WRITE);
		if (!mr->shadow)
			munmap(p, len);
	}
	mr->direct |= !mr->shadow;
	return mr->shadow;
}

static bool meet(const struct use *a, const struct use *b)
{
	return a->at < b->at + b->len && b->at < a->at + a->len;
}

/* The program's bytes into the shadow, but for those that v, or a use behind it, brings. */
/* NOLINTNEXTLINE(misc-no-recursion) as deep as there are uses */
static void fill_shadow(const struct region *mr, const struct use *v,
			char *from, char *to)
{
	while (v && (v->mr != mr || !v->shadow || v->at >= to ||
		     v->at + v->len <= from))
		v = LIST_NEXT(v, link);
	if (v && from < to) {
		fill_shadow(mr, LIST_NEXT(v, link), from, v->at);
		fill_shadow(mr, LIST_NEXT(v, link), v->at + v->len, to);
	} else if (from < to) {
		memcpy(from + mr->to_shadow, from, (size_t)(to - from));
	}
}

/* The device does not use these bytes any more: the program has them. Or, if it did not
 * write them: over what is still poison, and if the program did not free them. */
static void return_bytes(struct use *u, bool written)
{
	if (!u->mr)
		return;
	const bool there = readable(u->at, u->len);
	const bool judged = written && u->check;

	if (judged && u->dest && u->shadow &&
	    !(there && (unsigned char)*u->at == POISON &&
	      memcmp(u->at, u->at + 1, u->len - 1) == 0))
		report("BUFFER-WRITTEN", u->req, NULL,
		       "somebody wrote where the device is to write, "
		       "before the completion was polled");
	else if (judged && !u->dest &&
		 !(there && sum_of(u->at, u->len) == u->sum))
		report("BUFFER-CHANGED", u->req, NULL,
		       "the bytes changed between the post and the poll of "
		       "their completion: the device may send either");
	for (size_t i = 0; there && u->shadow && i < u->len; i++)
		if ((unsigned char)u->at[i] == POISON || (written && !judged))
			u->at[i] = u->shadow[i];
	LIST_REMOVE(u, link);
	u->mr = NULL;
}

void forget_region(struct region *mr, const struct trace *from)
{
	for (struct use *u = LIST_FIRST(&uses), *next; u; u = next) {
		next = LIST_NEXT(u, link);
		if (u->mr != mr)
			continue;
		if (u->req->queue->recv)
			u->req->queue->qp->orphan = u->req;
		else
			report("MR-IN-USE", u->req, from,
			       "a region goes while a request uses it");
		return_bytes(u, false);
	}
	if (mr->shadow) {
		const struct ibv_mr was = *mr->shadow;
		NEXT(ibv_dereg_mr)(mr->shadow);
		munmap(was.addr, was.length);
	}
}

/* ---- queues ------------------------------------------------------------- */

/* Its bytes go back to the program, too. */
static void leave_queue(struct req *r, bool written)
{
	struct queue *q = r->queue;

	for (unsigned i = 0; i < r->n_uses; i++)
		return_bytes(&r->use[i], written);
	TAILQ_REMOVE(&q->reqs, r, link);
	q->n--;
	if (r->cq)
		r->cq->due--;
	if (q->qp->orphan == r)
		q->qp->orphan = NULL;
	r->queue = NULL;
}

void bury(struct req *r)
{
	static struct req *buried[1 << 16];
	static uint16_t n; /* goes round */

	if (r->cq)
		r->cq->woken = true; /* what it left can be polled to the end */
	leave_queue(r, false);
	free(buried[n]);
	buried[n++] = r;
}

void give_up(struct qp *qp)
{
	struct req *r;

	while ((r = TAILQ_FIRST(&qp->sq.reqs) ?: TAILQ_FIRST(&qp->rq.reqs)))
		bury(r);
}

struct req *awaited(const struct qp *qp)
{
	struct req *r = TAILQ_FIRST(&qp->sq.reqs);

	while (r && !r->cq)
		r = TAILQ_NEXT(r, link);
	return r;
}

void report_not_polled(const struct qp *qp, const struct trace *from)
{
	struct req *r = awaited(qp);

	if (r && qp->state == IBV_QPS_RTS)
		report("NOT-POLLED", r, from,
		       "the completion of a request was never polled");
}

/* Receives may be left when the region goes and the QP goes next. */
static void check_orphan(struct qp *qp)
{
	if (qp->orphan)
		report("MR-IN-USE", qp->orphan, NULL,
		       "the region of a posted receive is gone, and the QP "
		       "goes on");
	qp->orphan = NULL;
}

static void fail(struct req *r, struct ibv_wc *wc)
{
	const unsigned refusals = 0x2f56; /* statuses 1, 2, 4, 6, 8 to 11, 13 */
	const struct ibv_wc said = *wc;

	if ((refusals >> wc->status & 1) && !r->told)
		report("REFUSED", r, NULL, "%s (status %d)",
		       NEXT(ibv_wc_status_str)(wc->status), wc->status);
	/* man ibv_poll_cq: only wr_id, status, qp_num and vendor_err mean anything. */
	memset(wc, POISON, sizeof *wc);
	wc->wr_id = said.wr_id;
	wc->status = said.status;
	wc->qp_num = said.qp_num;
	wc->vendor_err = said.vendor_err;
	for (struct qp *qp = NULL; r->queue && (qp = next_of(QP, qp));)
		if (qp->num == (r->qp_num ?: said.qp_num) && /* or SRQ */
		    qp->o.ctx == r->queue->qp->o.ctx)
			qp->state = IBV_QPS_ERR;
}

void finish(struct ibv_wc *wc)
{
	struct req *r = (struct req *)(uintptr_t)(wc->wr_id ^ ours);
	const bool failed = wc->status != IBV_WC_SUCCESS;
	/* It takes a receive, and not its buffer, where the WRITE may have gone. */
	const bool by_imm = !failed && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;

	if (wc->wr_id >> 48 != ours >> 48)
		return; /* of a queue that we do not know */
	wc->wr_id = r->wr_id;
	if (r->queue &&
	    (!failed || (r->queue->recv && wc->status != IBV_WC_WR_FLUSH_ERR)))
		check_orphan(r->queue->qp);
	if (failed)
		fail(r, wc);
	if (!r->queue)
		return; /* given up, or refused by the post and done nevertheless */
	/* A completion stands for all that was posted to the send queue before it. */
	struct req *first = r->queue->recv ? r : TAILQ_FIRST(&r->queue->reqs);
	for (struct req *next, *end = TAILQ_NEXT(r, link); first != end;
	     first = next) {
		next = TAILQ_NEXT(first, link);
		leave_queue(first, !by_imm);
		free(first);
	}
}

/* ---- what a post may not do ---------------------------------------------- */

/* Its bytes meet those of others under way. Is it to send those that a READ brings? */
static bool look_at_others(struct use *u)
{
	const struct queue *q = u->req->queue, *other;
	bool waits = false;

	for (struct use *v = LIST_FIRST(&uses); v; v = LIST_NEXT(v, link)) {
		if (!meet(u, v) || (!u->dest && !v->dest) ||
		    (v->mr != u->mr && u->mr->opaque))
			continue;
		u->check = false;
		other = v->req->queue;
		if (!u->dest && other == q && v->req->fences < u->req->fences) {
			waits |= v->shadow != NULL; /* its poison stays */
			continue;
		}
		v->check = false;
		if (!u->dest && !other->recv)
			report("READ-NOT-DONE", u->req, NULL,
			       "a READ or atomic under way brings these bytes, "
			       "and no fence waits for that");
		/* Of two that write, what is there in the end may not matter. */
		else if (v->dest != u->dest && (q->recv || other != q))
			report("BUFFER-SHARED", u->req, NULL,
			       "under way, one writes the bytes that another "
			       "one sends");
	}
	return waits;
}

/* Which region has these bytes? Reports if none has them all. */
static struct region *region_of(struct req *r, const struct ibv_sge *s,
				bool dest)
{
	const struct obj *o = &r->queue->qp->o;
	const struct ibv_pd *pd = o->kind == SRQ ? o->srq->pd : o->qp->pd;
	struct region *mr = NULL;

	while ((mr = next_of(REGION, mr)) &&
	       (mr->o.ctx != o->ctx || mr->o.mr->lkey != s->lkey || !s->lkey))
		;
	if (mr) { /* soon again, perhaps: there may be many */
		LIST_REMOVE(&mr->o, link);
		LIST_INSERT_HEAD(&objects[REGION], &mr->o, link);
	}
	const uint64_t offset = mr ? s->addr - mr->iova : 0;
	const size_t length = mr ? mr->o.mr->length : 0;
	/* A parent domain has the handle of its PD. */
	if (!mr || mr->o.mr->pd->handle != pd->handle)
		report(mr ? "OTHER-PD" : "BAD-LKEY", r, NULL,
		       "lkey 0x%x is of no region of the QP's PD", s->lkey);
	else if (dest && !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		report("NO-RIGHT", r, NULL,
		       "the device is to write into a region without "
		       "IBV_ACCESS_LOCAL_WRITE");
	else if (offset > length || s->length > length - offset)
		report("OUT-OF-REGION", r, NULL,
		       "%u bytes at offset %ld of a region of %zu", s->length,
		       (long)offset, length);
	else
		return mr;
	return NULL;
}

/* One SGE; changes it if the device is to use the shadow. */
static void name_bytes(struct req *r, struct ibv_sge *s, bool dest)
{
	struct region *mr = s->length ? region_of(r, s, dest) : NULL;

	if (!mr)
		return;
	struct use *u = &r->use[r->n_uses++];
	*u = (struct use){ .mr = mr,
			   .req = r,
			   .at = (char *)mr->o.mr->addr + (s->addr - mr->iova),
			   .len = s->length,
			   .dest = dest,
			   .check = !mr->opaque };
	if ((look_at_others(u) || (dest && !mr->direct)) && make_shadow(mr)) {
		fill_shadow(mr, LIST_FIRST(&uses), u->at, u->at + u->len);
		s->addr = (uintptr_t)(u->at + mr->to_shadow);
		s->lkey = mr->shadow->lkey;
		u->shadow = dest ? u->at + mr->to_shadow : NULL;
		if (dest && u->check)
			memset(u->at, POISON, u->len);
	} else if (u->check && !dest) {
		u->sum = sum_of(u->at, u->len);
	}
	LIST_INSERT_HEAD(&uses, u, link);
}

void copy_bytes(struct req *r, const void *at, size_t len)
{
	const struct use u = { .at = (char *)at, .len = len };

	for (struct use *v = LIST_FIRST(&uses); v; v = LIST_NEXT(v, link))
		if (len && v->dest && meet(&u, v))
			report(v->req->queue->recv ? "BUFFER-SHARED"
						   : "READ-NOT-DONE",
			       r, NULL,
			       "INLINE copies bytes that a request under way "
			       "brings; a fence cannot help");
}

struct req *have_request(struct queue *q, const struct ibv_send_wr *w,
			 uint64_t *wr_id, struct ibv_sge **sg_list, int num_sge)
{
	const enum ibv_wr_opcode op = w->opcode;
	const bool atomic = op == IBV_WR_ATOMIC_CMP_AND_SWP ||
			    op == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool read = op == IBV_WR_RDMA_READ;
	const bool remote = read || atomic || op == IBV_WR_RDMA_WRITE ||
			    op == IBV_WR_RDMA_WRITE_WITH_IMM;
	const bool names = op != IBV_WR_LOCAL_INV && op != IBV_WR_BIND_MW;
	const bool dest = q->recv || read || atomic;
	const bool by_cpu = w->send_flags & IBV_SEND_INLINE;
	const uint32_t rkey = atomic ? w->wr.atomic.rkey : w->wr.rdma.rkey;
	const size_t n = num_sge > 0 ? (size_t)num_sge : 0;
	struct qp *qp = q->qp;
	struct ibv_sge *sge;
	struct req *r =
		calloc(1, sizeof *r + n * sizeof *r->use + n * sizeof *sge);
	size_t len = 0;

	if (!r)
		abort();
	check_orphan(qp);
	r->queue = q;
	r->wr_id = *wr_id;
	r->qp_num = qp->num;
	const struct req *last = TAILQ_LAST(&q->reqs, reqs);
	r->fences = (last ? last->fences : 0) +
		    (w->send_flags & IBV_SEND_FENCE ? 1 : 0);
	r->from = trace_now();
	if (q->recv || qp->all_signaled || (w->send_flags & IBV_SEND_SIGNALED))
		r->cq = q->cq;
	if (!q->recv && qp->rq.cq && !awaited(qp))
		qp->rq.cq->polled = true; /* perhaps the peer only answers */
	const unsigned due = r->cq ? ++r->cq->due : 0;
	const unsigned cqe = r->cq ? (unsigned)r->cq->o.cq->cqe : 0;
	TAILQ_INSERT_TAIL(&q->reqs, r, link);
	q->n++;
	sge = (struct ibv_sge *)&r->use[n];
	for (size_t i = 0; i < n; i++) {
		sge[i] = (*sg_list)[i];
		len += sge[i].length;
	}

	const enum ibv_qp_state least = q->recv ? IBV_QPS_INIT : IBV_QPS_RTS;
	const struct {
		bool broken;
		const char *rule, *what;
		size_t is, allowed;
	} rules[] = {
		{ qp->state < least, "WRONG-STATE",
		  "QP state (RESET 0, INIT 1, RTS 3)", qp->state, least },
		{ q->n > q->max, q->recv ? "RQ-FULL" : "SQ-FULL",
		  "requests posted and not polled", q->n, q->max },
		{ due > cqe, "CQ-FULL", "completions that may come into the CQ",
		  due, cqe },
		{ n > q->max_sge, "TOO-MANY-SGE", "SGEs", n, q->max_sge },
		{ by_cpu && !dest && len > qp->max_inline, "INLINE-LENGTH",
		  "bytes INLINE", len, qp->max_inline },
		{ by_cpu && dest, "INLINE-READ", "bytes read INLINE", len, 0 },
		{ (read || atomic) && !qp->rd_atomic, "RD-ATOMIC",
		  "READs and atomics at a time (max_rd_atomic)", 1, 0 },
		{ remote && rkey == 0 && len > 0, "RKEY-ZERO",
		  "rkey 0: no remote right, or not taken over; bytes", len, 0 },
		{ atomic && n != 1, "ATOMIC-ALIGN", "SGEs", n, 1 },
		{ atomic && len != 8, "ATOMIC-ALIGN", "bytes", len, 8 },
		{ atomic && w->wr.atomic.remote_addr % 8, "ATOMIC-ALIGN",
		  "remote address % 8", w->wr.atomic.remote_addr % 8, 0 },
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].broken)
			report(rules[i].rule, r, NULL, "%s: %zu; allowed: %zu",
			       rules[i].what, rules[i].is, rules[i].allowed);
	for (size_t i = 0; i < n; i++)
		if (by_cpu && !dest)
			copy_bytes(r, (void *)(uintptr_t)sge[i].addr,
				   sge[i].length);
		else if (names)
			name_bytes(r, &sge[i], dest);
	*wr_id = (uintptr_t)r | ours;
	*sg_list = sge;
	return r;
}
