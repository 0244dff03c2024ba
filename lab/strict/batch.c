/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/batch.c - ibv_wr_*: what is between ibv_wr_start and ibv_wr_complete is
 * collected, and then posted like a list of ibv_post_send, which may take turns with it
 * (man ibv_wr_post). Not for QPs that ask for what only ibv_wr_* can do.
 */
#include <stdlib.h>
#include <string.h>

#include "strict.h"

static struct qp *of(struct ibv_qp_ex *x)
{
	lock();
	struct qp *qp = find(QP, &x->qp_base);
	unlock();
	return qp;
}

static void drop_list(struct qp *qp)
{
	while (qp->list) {
		struct ibv_send_wr *w = qp->list;
		qp->list = w->next;
		if (w->send_flags & IBV_SEND_INLINE && w->num_sge)
			free((void *)(uintptr_t)w->sg_list[0].addr);
		free(w->sg_list);
		free(w);
	}
}

static void start(struct ibv_qp_ex *x)
{
	drop_list(of(x));
}

static struct ibv_send_wr *newest(struct ibv_qp_ex *x)
{
	struct ibv_send_wr *w = of(x)->list;

	while (w && w->next)
		w = w->next;
	return w;
}

static struct ibv_send_wr *request(struct ibv_qp_ex *x, enum ibv_wr_opcode op)
{
	struct ibv_send_wr *w = calloc(1, sizeof *w), *last = newest(x);

	if (!w)
		abort();
	w->wr_id = x->wr_id;
	w->send_flags = x->wr_flags & ~(unsigned)IBV_SEND_INLINE;
	w->opcode = op;
	*(last ? &last->next : &of(x)->list) = w;
	return w;
}

static struct ibv_send_wr *remote(struct ibv_qp_ex *x, enum ibv_wr_opcode op,
				  uint32_t rkey, uint64_t addr)
{
	struct ibv_send_wr *w = request(x, op);

	w->wr.rdma.rkey = rkey;
	w->wr.rdma.remote_addr = addr;
	return w;
}

static void set_sge_list(struct ibv_qp_ex *x, size_t n,
			 const struct ibv_sge *list)
{
	struct ibv_send_wr *w = newest(x);

	w->sg_list = calloc(n + 1, sizeof *list);
	if (!w->sg_list)
		abort();
	memcpy(w->sg_list, list, n * sizeof *list);
	w->num_sge = (int)n;
}

static void set_sge(struct ibv_qp_ex *x, uint32_t lkey, uint64_t addr,
		    uint32_t length)
{
	struct ibv_sge s = { .lkey = lkey, .addr = addr, .length = length };

	set_sge_list(x, 1, &s);
}

static void set_inline_list(struct ibv_qp_ex *x, size_t n,
			    const struct ibv_data_buf *list)
{
	struct ibv_sge s = { 0 };

	for (size_t i = 0; i < n; i++)
		s.length += (uint32_t)list[i].length;
	char *copy = malloc(s.length + 1), *to = copy;
	if (!copy)
		abort();
	for (size_t i = 0; i < n; to += list[i++].length)
		memcpy(to, list[i].addr, list[i].length);
	s.addr = (uintptr_t)copy;
	set_sge_list(x, 1, &s);
	newest(x)->send_flags |= IBV_SEND_INLINE;
}

static void set_inline(struct ibv_qp_ex *x, void *addr, size_t length)
{
	struct ibv_data_buf b = { .addr = addr, .length = length };

	set_inline_list(x, 1, &b);
}

static void wr_send(struct ibv_qp_ex *x)
{
	request(x, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *x, __be32 imm)
{
	request(x, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static void wr_send_inv(struct ibv_qp_ex *x, uint32_t rkey)
{
	request(x, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
}

static void wr_local_inv(struct ibv_qp_ex *x, uint32_t rkey)
{
	request(x, IBV_WR_LOCAL_INV)->invalidate_rkey = rkey;
}

static void wr_read(struct ibv_qp_ex *x, uint32_t rkey, uint64_t addr)
{
	remote(x, IBV_WR_RDMA_READ, rkey, addr);
}

static void wr_write(struct ibv_qp_ex *x, uint32_t rkey, uint64_t addr)
{
	remote(x, IBV_WR_RDMA_WRITE, rkey, addr);
}

static void wr_write_imm(struct ibv_qp_ex *x, uint32_t rkey, uint64_t addr,
			 __be32 imm)
{
	remote(x, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr)->imm_data = imm;
}

static void atomic(struct ibv_qp_ex *x, enum ibv_wr_opcode op, uint32_t rkey,
		   uint64_t addr, uint64_t add_or_compare, uint64_t swap)
{
	struct ibv_send_wr *w = request(x, op);

	w->wr.atomic.rkey = rkey;
	w->wr.atomic.remote_addr = addr;
	w->wr.atomic.compare_add = add_or_compare;
	w->wr.atomic.swap = swap;
}

static void wr_cmp_swp(struct ibv_qp_ex *x, uint32_t rkey, uint64_t addr,
		       uint64_t compare, uint64_t swap)
{
	atomic(x, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr, compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *x, uint32_t rkey, uint64_t addr,
			 uint64_t add)
{
	atomic(x, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr, add, 0);
}

static void wr_bind_mw(struct ibv_qp_ex *x, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *w = request(x, IBV_WR_BIND_MW);

	w->bind_mw.mw = mw;
	w->bind_mw.rkey = rkey;
	w->bind_mw.bind_info = *info;
}

static void set_ud_addr(struct ibv_qp_ex *x, struct ibv_ah *ah, uint32_t qpn,
			uint32_t qkey)
{
	struct ibv_send_wr *w = newest(x);

	w->wr.ud.ah = ah;
	w->wr.ud.remote_qpn = qpn;
	w->wr.ud.remote_qkey = qkey;
}

static int complete(struct ibv_qp_ex *x)
{
	struct ibv_send_wr *bad;
	struct qp *qp = of(x);

	if (!qp->list)
		return 0;
	lock();
	int rc = send_list(qp, qp->list, &bad, __builtin_return_address(0));
	unlock();
	drop_list(qp);
	return rc;
}

void hook_batch(struct qp *qp, uint64_t ops)
{
	const uint64_t only_here =
		IBV_QP_EX_WITH_TSO | IBV_QP_EX_WITH_ATOMIC_WRITE;
	struct ibv_qp_ex *(*to_ex)(struct ibv_qp *) =
		next_function("ibv_qp_to_qp_ex");
	struct ibv_qp_ex *x = to_ex(qp->v);

	if (!x || (ops & only_here) || qp->v->qp_type == IBV_QPT_XRC_SEND)
		return;
	x->wr_start = start;
	x->wr_complete = complete;
	x->wr_abort = start;
	x->wr_send = wr_send;
	x->wr_send_imm = wr_send_imm;
	x->wr_send_inv = wr_send_inv;
	x->wr_local_inv = wr_local_inv;
	x->wr_bind_mw = wr_bind_mw;
	x->wr_rdma_read = wr_read;
	x->wr_rdma_write = wr_write;
	x->wr_rdma_write_imm = wr_write_imm;
	x->wr_atomic_cmp_swp = wr_cmp_swp;
	x->wr_atomic_fetch_add = wr_fetch_add;
	x->wr_set_ud_addr = set_ud_addr;
	x->wr_set_sge = set_sge;
	x->wr_set_sge_list = set_sge_list;
	x->wr_set_inline_data = set_inline;
	x->wr_set_inline_data_list = set_inline_list;
}
