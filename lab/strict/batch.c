/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/batch.c - ibv_wr_*: what is between ibv_wr_start and ibv_wr_complete is
 * collected, and then posted like a list of ibv_post_send, which may take turns with it
 * (man ibv_wr_post). Not for QPs that ask for what only ibv_wr_* can do.
 */
#include <stdlib.h>
#include <string.h>

#include "strict.h"

#define OF(x) ((struct qp *)find(QP, &(x)->qp_base))
#define NEWEST(x) (&OF(x)->batch[OF(x)->n_batch - 1])

/* From here to the end no other thread uses this QP (man ibv_wr_post, CONCURRENCY). */
static void wr_start(struct ibv_qp_ex *x)
{
	pthread_mutex_lock(&OF(x)->batching);
}

static void wr_abort(struct ibv_qp_ex *x)
{
	struct qp *qp = OF(x);

	while (qp->n_batch)
		free(qp->batch[--qp->n_batch].sg_list);
	pthread_mutex_unlock(&qp->batching);
}

static int wr_complete(struct ibv_qp_ex *x)
{
	LOCKED;
	struct qp *qp = OF(x);
	struct ibv_send_wr *bad;
	int rc = 0;

	for (unsigned i = 0; i < qp->n_batch && rc == 0; i++)
		rc = ibv_post_send(&x->qp_base, &qp->batch[i], &bad);
	wr_abort(x);
	return rc;
}

static void request(struct ibv_qp_ex *x, struct ibv_send_wr w)
{
	struct qp *qp = OF(x);

	w.wr_id = x->wr_id;
	w.send_flags = x->wr_flags & ~(unsigned)IBV_SEND_INLINE;
	qp->batch = realloc(qp->batch, (qp->n_batch + 1) * sizeof w);
	if (!qp->batch)
		abort();
	qp->batch[qp->n_batch++] = w;
}

/* Of the newest request; with room for bytes behind them. */
static struct ibv_sge *sges(struct ibv_qp_ex *x, size_t n, size_t room)
{
	struct ibv_send_wr *w = NEWEST(x);

	w->num_sge = (int)n;
	w->sg_list = calloc(1, n * sizeof *w->sg_list + room);
	if (!w->sg_list)
		abort();
	if (room)
		w->send_flags |= IBV_SEND_INLINE;
	return w->sg_list;
}

static void wr_set_sge_list(struct ibv_qp_ex *x, size_t n,
			    const struct ibv_sge *list)
{
	memcpy(sges(x, n, 0), list, n * sizeof *list);
}

static void wr_set_sge(struct ibv_qp_ex *x, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	*sges(x, 1, 0) = (struct ibv_sge){ addr, length, lkey };
}

static void wr_set_inline_data_list(struct ibv_qp_ex *x, size_t n,
				    const struct ibv_data_buf *list)
{
	LOCKED;
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		copy_bytes(NULL, list[i].addr, list[i].length);
		len += list[i].length;
	}
	struct ibv_sge *s = sges(x, 1, len + 1);
	s->addr = (uintptr_t)(s + 1);
	for (size_t i = 0; i < n; i++) {
		memcpy((char *)(s + 1) + s->length, list[i].addr,
		       list[i].length);
		s->length += (uint32_t)list[i].length;
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *x, void *addr, size_t length)
{
	wr_set_inline_data_list(x, 1, &(struct ibv_data_buf){ addr, length });
}

static void wr_set_ud_addr(struct ibv_qp_ex *x, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct ibv_send_wr *w = NEWEST(x);

	w->wr.ud.ah = ah;
	w->wr.ud.remote_qpn = remote_qpn;
	w->wr.ud.remote_qkey = remote_qkey;
}

/* The functions that begin a request: their opcodes and arguments, and where these go. */
#define X struct ibv_qp_ex *x
#define PEER uint32_t rkey, uint64_t at
#define REQUESTS(R)                                                           \
	R(wr_send, SEND, (X))                                                 \
	R(wr_send_imm, SEND_WITH_IMM, (X, __be32 imm), .imm_data = imm)       \
	R(wr_send_inv, SEND_WITH_INV, (X, uint32_t rkey),                     \
	  .invalidate_rkey = rkey)                                            \
	R(wr_local_inv, LOCAL_INV, (X, uint32_t rkey),                        \
	  .invalidate_rkey = rkey)                                            \
	R(wr_rdma_read, RDMA_READ, (X, PEER), .wr.rdma = { at, rkey })        \
	R(wr_rdma_write, RDMA_WRITE, (X, PEER), .wr.rdma = { at, rkey })      \
	R(wr_rdma_write_imm, RDMA_WRITE_WITH_IMM, (X, PEER, __be32 imm),      \
	  .imm_data = imm, .wr.rdma = { at, rkey })                           \
	R(wr_atomic_cmp_swp, ATOMIC_CMP_AND_SWP,                              \
	  (X, PEER, uint64_t compare, uint64_t swap),                         \
	  .wr.atomic = { at, compare, swap, rkey })                           \
	R(wr_atomic_fetch_add, ATOMIC_FETCH_AND_ADD, (X, PEER, uint64_t add), \
	  .wr.atomic = { at, add, 0, rkey })                                  \
	R(wr_bind_mw, BIND_MW,                                                \
	  (X, struct ibv_mw * mw, uint32_t rkey,                              \
	   const struct ibv_mw_bind_info *info),                              \
	  .bind_mw = { mw, rkey, *info })
#define DEFINE(name, op, params, ...)                                   \
	static void name params                                         \
	{                                                               \
		request(x, (struct ibv_send_wr){ .opcode = IBV_WR_##op, \
						 ##__VA_ARGS__ });      \
	}
REQUESTS(DEFINE)

void hook_batch(struct qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_ex *x = NEXT(ibv_qp_to_qp_ex)(qp->o.qp);

	if (!x || !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    attr->send_ops_flags >= IBV_QP_EX_WITH_TSO ||
	    attr->qp_type == IBV_QPT_XRC_SEND)
		return;
#define HOOK(name, ...) x->name = name;
	REQUESTS(HOOK)
	HOOK(wr_start)
	HOOK(wr_complete)
	HOOK(wr_abort)
	HOOK(wr_set_ud_addr)
	HOOK(wr_set_sge)
	HOOK(wr_set_sge_list)
	HOOK(wr_set_inline_data)
	HOOK(wr_set_inline_data_list)
}
