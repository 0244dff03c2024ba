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

enum { MOST_SGES = 256 }; /* no device has more, and the copy is on the stack */
/* Addresses have 48 bits: so a wr_id that is not ours is known. */
static const uint64_t ours = 0x57a1ull << 48;

static uint64_t sum_of(const char *p, size_t len)
{
	uint64_t sum = len, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15;
		sum ^= sum >> 29;
	}
	for (; len; p++, len--)
		sum = (sum ^ (unsigned char)*p) * 0x100000001b3;
	return sum;
}

static bool is_poison(const char *p, size_t len)
{
	return len == 0 ||
	       ((unsigned char)*p == POISON && memcmp(p, p + 1, len - 1) == 0);
}

/* Its bytes, or NULL if nothing is mapped there any more. */
static char *copy_safely(const struct use *u)
{
	char *copy = malloc(u->len);
	struct iovec to = { copy, u->len }, from = { u->at, u->len };

	if (copy &&
	    process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)u->len)
		return copy;
	free(copy);
	return NULL;
}

/* ---- regions ------------------------------------------------------------ */

struct wanted {
	uint32_t lkey;
	struct ibv_pd *pd;
};

static bool has_lkey(void *obj, void *arg)
{
	const struct region *mr = obj;
	const struct wanted *w = arg;

	return mr->v->lkey == w->lkey && (!w->pd || mr->v->pd == w->pd) &&
	       mr->v->lkey != 0;
}

/* The device writes there instead. As large as the region, so that offsets agree. */
static bool make_shadow(struct region *mr)
{
	if (mr->shadow)
		return true;
	if (mr->opaque)
		return false;
	char *p = mmap(NULL, mr->length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, int) =
		next_function("ibv_reg_mr");
	shadowing = true;
	mr->shadow_mr = reg(mr->v->pd, p, mr->length, IBV_ACCESS_LOCAL_WRITE);
	shadowing = false;
	if (!mr->shadow_mr) {
		munmap(p, mr->length);
		mr->opaque = true;
		return false;
	}
	mr->shadow = p;
	return true;
}

static char *shadow_of(const struct use *u)
{
	return u->mr->shadow + (u->at - u->mr->addr);
}

static bool meet(const struct use *a, const struct use *b)
{
	return a != b && a->at < b->at + b->len && b->at < a->at + a->len;
}

/* The program's bytes into the shadow, but for those that the device is to write. */
static void fill_shadow(const struct use *u)
{
	char *p = u->at, *end = p + u->len;

	while (p < end) {
		char *stop = end;
		bool covered = false;
		for (const struct use *v = u->mr->uses; v; v = v->next) {
			if (v == u || !v->dest || !v->shadowed)
				continue;
			if (v->at <= p && p < v->at + v->len) {
				covered = true;
				stop = v->at + v->len;
				break;
			}
			if (v->at > p && v->at < stop)
				stop = v->at;
		}
		if (stop > end)
			stop = end;
		if (!covered)
			memcpy(u->mr->shadow + (p - u->mr->addr), p,
			       (size_t)(stop - p));
		p = stop;
	}
}

static void link_use(struct use *u)
{
	u->next = u->mr->uses;
	u->mr->uses = u;
}

static void unlink_use(struct use *u)
{
	if (!u->mr)
		return;
	struct use **p = &u->mr->uses;
	while (*p != u)
		p = &(*p)->next;
	*p = u->next;
	u->mr = NULL;
}

static void report_changed(const struct use *u, const char *bytes)
{
	if (sum_of(bytes, u->len) != u->sum)
		report("BUFFER-CHANGED", &u->req->from, u->req,
		       "the bytes changed between the post and the poll of "
		       "their completion: the device may send either");
}

/* The device does not use these bytes any more: the program has them. A WRITE with
 * immediate takes a receive, and not its buffer, where the WRITE itself may have gone. */
static void return_bytes(struct use *u, bool taken_by_write)
{
	if (!u->mr)
		return;
	if (u->dest && u->shadowed && taken_by_write) {
		for (uint32_t i = 0; u->check && i < u->len; i++)
			if ((unsigned char)u->at[i] == POISON)
				u->at[i] = shadow_of(u)[i];
	} else if (u->dest && u->shadowed) {
		if (u->check && !is_poison(u->at, u->len))
			report("BUFFER-WRITTEN", &u->req->from, u->req,
			       "somebody wrote into the buffer of a %s before "
			       "its completion was polled",
			       u->req->recv ? "receive" : "READ or atomic");
		memcpy(u->at, shadow_of(u), u->len);
	} else if (!u->dest && u->check) {
		report_changed(u, u->at);
	}
	unlink_use(u);
}

/* It will never be complete. Who freed the buffer already does not want it back. */
static void take_back(struct req *r)
{
	for (unsigned i = 0; i < r->n_uses; i++) {
		struct use *u = &r->use[i];
		if (!u->mr)
			continue;
		char *copy = copy_safely(u);
		if (copy && u->dest && u->shadowed && is_poison(copy, u->len))
			memcpy(u->at, shadow_of(u), u->len);
		free(copy);
		unlink_use(u);
	}
}

void look_at_left(const struct queue *q)
{
	for (const struct req *r = q->first; r; r = r->next)
		for (unsigned i = 0; i < r->n_uses; i++) {
			const struct use *u = &r->use[i];
			char *copy = u->mr && u->check && !u->dest
					     ? copy_safely(u)
					     : NULL;
			if (copy)
				report_changed(u, copy);
			free(copy);
		}
}

void forget_region(struct region *mr, const struct trace *from)
{
	int (*dereg)(struct ibv_mr *) = next_function("ibv_dereg_mr");

	while (mr->uses) {
		struct req *r = mr->uses->req;
		if (!r->recv)
			report("MR-IN-USE", from, r,
			       "a region goes while a request uses it");
		else if (r->qp && !r->qp->orphan)
			r->qp->orphan = r;
		take_back(r);
	}
	if (mr->shadow) {
		dereg(mr->shadow_mr);
		munmap(mr->shadow, mr->length);
	}
}

/* ---- queues ------------------------------------------------------------- */

static void leave_queue(struct req *r)
{
	struct queue *q = r->queue;

	if (!q)
		return;
	if (r->prev)
		r->prev->next = r->next;
	else
		q->first = r->next;
	if (r->next)
		r->next->prev = r->prev;
	else
		q->last = r->prev;
	q->n--;
	r->queue = NULL;
	if (r->cq && r->cq->due)
		r->cq->due--;
}

static void enter_queue(struct req *r, struct queue *q, struct cq *cq)
{
	r->queue = q;
	r->prev = q->last;
	if (q->last)
		q->last->next = r;
	else
		q->first = r;
	q->last = r;
	q->n++;
	r->cq = cq;
	if (!cq)
		return;
	if (++cq->due > (unsigned)cq->v->cqe)
		report("CQ-FULL", &r->from, r,
		       "%u completions may come into a CQ of %d", cq->due,
		       cq->v->cqe);
}

/* What is given up, or was not accepted, is kept: the device may have a completion with
 * its address, and rxe may do later what it refused. */
static void bury(struct req *r)
{
	static struct req *buried;

	take_back(r);
	leave_queue(r);
	r->qp = NULL;
	r->next = buried;
	buried = r;
}

void give_up(struct queue *q)
{
	while (q->first)
		bury(q->first);
}

static const struct {
	enum ibv_wc_status status;
	const char *why;
} refusals[] = {
	{ IBV_WC_LOC_LEN_ERR, "the message is longer than the receive" },
	{ IBV_WC_LOC_QP_OP_ERR, "the device cannot do this request" },
	{ IBV_WC_LOC_PROT_ERR, "a region does not allow what an SGE asks" },
	{ IBV_WC_LOC_ACCESS_ERR, "the peer asked what we do not allow" },
	{ IBV_WC_REM_INV_REQ_ERR, "the peer's QP does not allow the request" },
	{ IBV_WC_REM_ACCESS_ERR,
	  "the peer's region does not allow it: rkey, range or right" },
	{ IBV_WC_REM_OP_ERR, "the peer could not do the request" },
	{ IBV_WC_RNR_RETRY_EXC_ERR, "the peer had no receive posted" },
};

/* Receives may be left when the region goes and the QP goes next. */
static void check_orphan(struct qp *qp)
{
	struct req *r = qp ? qp->orphan : NULL;

	if (!r)
		return;
	qp->orphan = NULL;
	report("MR-IN-USE", &r->from, r,
	       "the region of a posted receive is gone, and the QP goes on");
}

void finish(struct ibv_wc *wc)
{
	struct req *r = (struct req *)(uintptr_t)(wc->wr_id ^ ours);

	bool by_write = wc->status == IBV_WC_SUCCESS &&
			wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;

	if (wc->wr_id >> 48 != ours >> 48)
		return; /* of a queue that we do not know */
	wc->wr_id = r->wr_id;
	if (wc->status == IBV_WC_SUCCESS)
		check_orphan(r->qp);
	if (wc->status != IBV_WC_SUCCESS) {
		for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
			if (refusals[i].status == wc->status && !r->told)
				report("REFUSED", &r->from, r, "%s (status %d)",
				       refusals[i].why, wc->status);
		/* man ibv_poll_cq: only wr_id, status, qp_num and vendor_err mean
		 * anything. */
		wc->opcode = (enum ibv_wc_opcode)0xeeeeeeee;
		wc->byte_len = wc->imm_data = wc->src_qp = 0xeeeeeeee;
		wc->wc_flags = 0xeeee;
		wc->pkey_index = wc->slid = 0xeeee;
		wc->sl = wc->dlid_path_bits = 0xee;
		if (r->qp)
			r->qp->state = IBV_QPS_ERR;
	}
	if (!r->queue)
		return; /* given up, or refused by the post and done nevertheless */
	/* A completion stands for all that was posted to the send queue before it. */
	struct req *first = r->recv ? r : r->queue->first;
	for (;;) {
		struct req *next = first->next;
		bool last = first == r;
		for (unsigned i = 0; i < first->n_uses; i++)
			return_bytes(&first->use[i], by_write);
		leave_queue(first);
		free(first);
		if (last)
			break;
		first = next;
	}
}

/* ---- what a post may not do ---------------------------------------------- */

/* Does r, or a request between the two, wait for that READ? */
static bool fenced(const struct req *read, const struct req *r)
{
	if (read->qp != r->qp)
		return false;
	while ((read = read->next))
		if (read->flags & IBV_SEND_FENCE)
			return true;
	return r->flags & IBV_SEND_FENCE;
}

/* Its bytes meet those of others under way. */
static void look_at_others(struct use *u)
{
	struct req *r = u->req;

	for (struct use *v = u->mr->uses; v; v = v->next) {
		if (!meet(u, v) || (!u->dest && !v->dest))
			continue;
		u->check = v->check = false;
		if (!u->dest && !v->req->recv) {
			u->shadowed = fenced(v->req, r);
			if (!u->shadowed)
				report("READ-NOT-DONE", &r->from, r,
				       "it names bytes of a READ or atomic "
				       "under way, and no fence waits for "
				       "that");
		} else if (v->dest && u->dest) {
			continue; /* what is there in the end may not matter */
		} else if (v->req->recv || r->recv || v->req->qp != r->qp) {
			report("BUFFER-SHARED", &r->from, r,
			       "a %s and a %s under way name the same bytes",
			       r->recv ? "receive" : "request",
			       v->req->recv ? "posted receive" : "request");
		}
	}
}

/* Which region has these bytes? Reports if none has them all. */
static struct region *region_of(struct req *r, const struct ibv_sge *s,
				struct ibv_pd *pd, bool dest)
{
	struct wanted w = { s->lkey, pd };
	struct region *mr = any(REGION, has_lkey, &w);

	if (!mr) {
		w.pd = NULL;
		mr = any(REGION, has_lkey, &w);
		report(mr ? "OTHER-PD" : "BAD-LKEY", &r->from, r,
		       "lkey 0x%x is %s", s->lkey,
		       mr ? "of a region of another PD"
			  : "of no region that is registered");
		return NULL;
	}
	if (dest && !(mr->access & IBV_ACCESS_LOCAL_WRITE)) {
		report("NO-RIGHT", &r->from, r,
		       "the device is to write into a region without "
		       "IBV_ACCESS_LOCAL_WRITE");
		return NULL;
	}
	uint64_t offset = s->addr - mr->iova;
	if (offset > mr->length || s->length > mr->length - offset) {
		report("OUT-OF-REGION", &r->from, r,
		       "%u bytes at offset %ld of a region of %zu", s->length,
		       (long)offset, mr->length);
		return NULL;
	}
	return mr;
}

/* One SGE; changes it if the device is to use the shadow. */
static void name_bytes(struct req *r, struct ibv_sge *s, struct ibv_pd *pd,
		       bool dest)
{
	struct region *mr;

	if (s->length == 0 || !(mr = region_of(r, s, pd, dest)))
		return;
	struct use *u = &r->use[r->n_uses++];
	*u = (struct use){ .mr = mr,
			   .req = r,
			   .at = mr->addr + (s->addr - mr->iova),
			   .len = s->length,
			   .dest = dest,
			   .check = !mr->opaque };
	look_at_others(u);
	if (dest)
		u->shadowed = true;
	if (u->shadowed && make_shadow(mr)) {
		fill_shadow(u);
		s->addr = (uintptr_t)shadow_of(u);
		s->lkey = mr->shadow_mr->lkey;
		if (dest && u->check)
			memset(u->at, POISON, u->len);
	} else {
		u->shadowed = false;
		u->check = u->check && !dest;
		if (u->check)
			u->sum = sum_of(u->at, u->len);
	}
	link_use(u);
}

static bool inline_meets(void *obj, void *arg)
{
	struct region *mr = obj;
	struct use *u = arg;

	for (const struct use *v = mr->uses; v; v = v->next)
		if (v->dest && !v->req->recv && meet(u, v))
			return true;
	return false;
}

/* Its bytes are copied now, by the CPU. */
static void check_inline(struct req *r, const struct ibv_send_wr *w)
{
	size_t len = 0;

	for (int i = 0; i < w->num_sge; i++) {
		struct use u = { .at = (char *)(uintptr_t)w->sg_list[i].addr,
				 .len = w->sg_list[i].length };
		len += u.len;
		if (u.len && any(REGION, inline_meets, &u))
			report("READ-NOT-DONE", &r->from, r,
			       "INLINE copies bytes of a READ or atomic "
			       "that is under way; a fence cannot help");
	}
	if (len > r->qp->cap.max_inline_data)
		report("INLINE-LENGTH", &r->from, r,
		       "INLINE with %zu bytes: the QP was granted %u", len,
		       r->qp->cap.max_inline_data);
}

static bool is_atomic(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void check_remote(struct req *r, const struct ibv_send_wr *w)
{
	bool atomic = is_atomic(w->opcode);
	bool plain = w->opcode == IBV_WR_RDMA_WRITE ||
		     w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
		     w->opcode == IBV_WR_RDMA_READ;
	size_t len = 0;

	if (!atomic && !plain)
		return;
	for (int i = 0; i < w->num_sge; i++)
		len += w->sg_list[i].length;
	uint32_t rkey = atomic ? w->wr.atomic.rkey : w->wr.rdma.rkey;
	if (rkey == 0 && len > 0)
		report("RKEY-ZERO", &r->from, r,
		       "rkey 0: the region that it is of has no remote right, "
		       "or the rkey was not taken over");
	if (atomic && w->wr.atomic.remote_addr % 8)
		report("ATOMIC-ALIGN", &r->from, r,
		       "the address of an atomic is not a multiple of 8");
	if (atomic && len != 8)
		report("ATOMIC-ALIGN", &r->from, r,
		       "an atomic returns 8 bytes, and its SGE has %zu", len);
	if ((atomic || w->opcode == IBV_WR_RDMA_READ) && !r->qp->rd_atomic)
		report("RD-ATOMIC", &r->from, r,
		       "a READ or atomic, and max_rd_atomic is 0");
	if (w->opcode == IBV_WR_RDMA_READ && (r->flags & IBV_SEND_INLINE))
		report("INLINE-READ", &r->from, r,
		       "INLINE on a READ: there are no bytes to copy");
}

static struct req *new_req(struct qp *qp, uint64_t wr_id, int num_sge,
			   const struct trace *from)
{
	struct req *r = calloc(1, sizeof *r + (size_t)num_sge * sizeof *r->use);

	if (!r)
		abort();
	r->qp = qp;
	r->qp_num = qp ? qp->v->qp_num : 0;
	r->wr_id = wr_id;
	r->from = *from;
	return r;
}

static struct ibv_sge *copy_sges(struct ibv_sge *to, const struct ibv_sge *from,
				 int *n)
{
	if (*n < 0 || *n > MOST_SGES)
		*n = *n < 0 ? 0 : MOST_SGES;
	for (int i = 0; i < *n; i++)
		to[i] = from[i];
	return to;
}

static void check_sges(struct req *r, int n, uint32_t max)
{
	if (n > (int)max)
		report("TOO-MANY-SGE", &r->from, r,
		       "%d SGEs: the QP was granted %u", n, max);
}

static struct req *send_one(struct qp *qp, struct ibv_send_wr *w,
			    const struct trace *from)
{
	struct req *r = new_req(qp, w->wr_id, w->num_sge, from);
	bool to_us = w->opcode == IBV_WR_RDMA_READ || is_atomic(w->opcode);
	bool signaled = qp->all_signaled || (w->send_flags & IBV_SEND_SIGNALED);

	r->opcode = w->opcode;
	r->flags = w->send_flags;
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD &&
	    qp->state != IBV_QPS_SQE && qp->state != IBV_QPS_ERR)
		report("WRONG-STATE", &r->from, r,
		       "a send is posted to a QP that is not in state RTS");
	if (qp->sq.n >= qp->cap.max_send_wr)
		report("SQ-FULL", &r->from, r,
		       "%u requests are posted and not polled, and the send "
		       "queue has %u places",
		       qp->sq.n + 1, qp->cap.max_send_wr);
	check_sges(r, w->num_sge, qp->cap.max_send_sge);
	check_remote(r, w);
	if ((r->flags & IBV_SEND_INLINE) && !to_us)
		check_inline(r, w);
	else if (w->opcode <= IBV_WR_RDMA_READ || is_atomic(w->opcode) ||
		 w->opcode == IBV_WR_SEND_WITH_INV)
		for (int i = 0; i < w->num_sge; i++)
			name_bytes(r, &w->sg_list[i], qp->v->pd, to_us);
	enter_queue(r, &qp->sq, signaled ? qp->send_cq : NULL);
	w->wr_id = (uintptr_t)r | ours;
	return r;
}

int send_list(struct qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
	      void *caller)
{
	struct trace from = trace_from(caller);
	int rc = 0;

	check_orphan(qp);
	for (struct ibv_send_wr *w = list; w && !rc; w = w->next) {
		struct ibv_send_wr copy = *w, *refuses;
		struct ibv_sge sge[MOST_SGES];
		copy.next = NULL;
		copy.sg_list = copy_sges(sge, w->sg_list, &copy.num_sge);
		struct req *r = send_one(qp, &copy, &from);
		rc = real(qp->o.ctx)->post_send(qp->v, &copy, &refuses);
		if (rc) {
			bury(r);
			*bad = w;
		}
	}
	return rc;
}

/* To a QP's own queue, or to an SRQ; the other one is NULL. */
int recv_list(struct qp *qp, struct srq *srq, struct ibv_recv_wr *list,
	      struct ibv_recv_wr **bad, void *caller)
{
	struct trace from = trace_from(caller);
	struct queue *q = srq ? &srq->rq : qp->rq;
	struct ibv_pd *pd = srq ? srq->v->pd : qp->v->pd;
	int rc = 0;

	check_orphan(qp);
	for (struct ibv_recv_wr *w = list; w && !rc; w = w->next) {
		struct ibv_recv_wr copy = *w, *refuses;
		struct ibv_sge sge[MOST_SGES];
		copy.next = NULL;
		copy.sg_list = copy_sges(sge, w->sg_list, &copy.num_sge);
		struct req *r = new_req(qp, w->wr_id, copy.num_sge, &from);

		r->recv = true;
		if (!srq && qp->state == IBV_QPS_RESET)
			report("WRONG-STATE", &r->from, r,
			       "a receive is posted to a QP in state RESET");
		if (q->n >= q->max)
			report("RQ-FULL", &r->from, r,
			       "%u receives are posted and not polled, and the "
			       "queue has %u places",
			       q->n + 1, q->max);
		if (!srq)
			check_sges(r, w->num_sge, qp->cap.max_recv_sge);
		for (int i = 0; i < copy.num_sge; i++)
			name_bytes(r, &sge[i], pd, true);
		enter_queue(r, q, srq ? NULL : qp->recv_cq);
		copy.wr_id = (uintptr_t)r | ours;
		rc = srq ? real(srq->o.ctx)
				     ->post_srq_recv(srq->v, &copy, &refuses)
			 : real(qp->o.ctx)->post_recv(qp->v, &copy, &refuses);
		if (rc) {
			bury(r);
			*bad = w;
		}
	}
	return rc;
}
