/* SPDX-License-Identifier: MIT */
/*
 * judges/00_hello/2_register.c - what do the four regions allow?
 *
 * before: letter: there is no region
 * hint1: Who writes to the inbox: your program, your NIC or the peer's NIC?
 * hint1: Who only reads the letter, and does that need a right?
 * hint1.zh: 写 inbox 的是谁：你的程序、本端网卡，还是对端网卡？letter 只被读
 * hint1.zh: 取，读它的是谁，需要权限吗？
 * hint2: Two of the four need one right, one needs two, one needs none: what
 * hint2: others may write, our own NIC must be allowed to write, too. A region
 * hint2: begins and ends where its part does: sizeof desk->letter.
 * hint2.zh: 四个部分中，两个各需要一种权限，一个需要两种，一个什么权限都不要。
 * hint2.zh: 别人能写的内存，本端网卡也必须有权写。MR 的起止就是那个部分的起止：
 * hint2.zh: sizeof desk->letter。
 */
#include <errno.h>

#include "2_register.h"
#include "fails.h"
#include "library.h"

enum { LEN = 8, RIGHTS = 5 };

static struct duo d;
static _Alignas(8) struct desk desk;
static _Alignas(8) char theirs[LEN];
static struct ibv_mr *their_mr;

/* Each right, and what it lets somebody do. */
static const struct {
	int right;
	const char *what;
} all[RIGHTS] = {
	{ IBV_ACCESS_LOCAL_WRITE, "your NIC may put messages there" },
	{ IBV_ACCESS_REMOTE_READ, "the peer may READ it" },
	{ IBV_ACCESS_REMOTE_WRITE, "the peer may WRITE to it" },
	{ IBV_ACCESS_REMOTE_ATOMIC, "the peer may change it by atomics" },
	{ IBV_ACCESS_MW_BIND, "memory windows may be bound to it" },
};
static int n_rights = RIGHTS;

/* A memory window opens a part of a region (exercise 2.5). Not every device has them. */
static int bind_window(struct ep *ep, struct ibv_mr *mr)
{
	struct ibv_mw *mw = ibv_alloc_mw(ep->pd, IBV_MW_TYPE_2);

	if (!mw)
		return NOT_POSTED;
	struct ibv_send_wr bind = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw,
			     .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = { .mr = mr,
					    .addr = (uintptr_t)mr->addr,
					    .length = LEN,
					    .mw_access_flags =
						    IBV_ACCESS_REMOTE_READ } },
	};
	int status = outcome(ep, bind, NULL, 0, NULL);
	ibv_dealloc_mw(mw);
	return status;
}

/* Tries it, on a connection of its own, since an error ends one. */
static bool allowed(struct ibv_mr *mr, int right)
{
	static const struct ibv_qp_cap cap = { 0 }; /* 1 of each */
	struct duo try = { .you = ep_second(&d.you, cap),
			   .peer = ep_second(&d.peer, cap) };
	struct ibv_send_wr wr = request(IBV_WR_SEND, NULL, mr->addr, mr);

	duo_connect(&try, ALL_REMOTE, 0);
	if (right == IBV_ACCESS_LOCAL_WRITE)
		add_receive(&try.you, 0, mr->addr, LEN, mr);
	else if (right == IBV_ACCESS_REMOTE_READ)
		wr.opcode = IBV_WR_RDMA_READ;
	else if (right == IBV_ACCESS_REMOTE_WRITE)
		wr.opcode = IBV_WR_RDMA_WRITE;
	else
		wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, NULL, mr->addr, mr);
	int status = right == IBV_ACCESS_MW_BIND
			     ? bind_window(&try.you, mr)
			     : outcome(&try.peer, wr, theirs, LEN, their_mr);
	ep_close(&try.you);
	ep_close(&try.peer);
	return status == IBV_WC_SUCCESS;
}

static void look_at(const char *name, struct ibv_mr *mr, void *part, size_t len,
		    int rights)
{
	about("%s", name);
	if (!mr)
		wrong("there is no region");
	if (mr->addr != part || mr->length != len)
		wrong("the region does not have exactly its %zu bytes", len);
	if (mr->pd != d.you.pd)
		wrong("the region is in another PD");
	for (int i = 0; i < n_rights; i++) {
		bool want = rights & all[i].right;

		if (allowed(mr, all[i].right) == want)
			continue;
		wrong("%s%s, and should%s", want ? "not so: " : "", all[i].what,
		      want ? "" : " not");
	}
}

static int registered; /* regions */

/* Before the library's own, which it calls. The macro ibv_reg_mr() calls this or
 * the next: that depends on access. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *p, size_t len,
				uint64_t iova, unsigned access)
{
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, uint64_t,
			      unsigned);

	registered++;
	if (fails_now()) {
		errno = ENOMEM;
		return NULL;
	}
	*(void **)&reg = library("ibv_reg_mr_iova2");
	return reg(pd, p, len, iova, access);
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *pd, void *p, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, p, len, (uintptr_t)p, (unsigned)access);
}

/* With a device of its own: a child may not use that of its parent. */
static void one_failure(void)
{
	static const struct ibv_qp_cap cap = { 0 };
	struct regions mr = { 0 };
	static struct duo e;

	duo_open(&e, cap);
	register_desk(e.you.pd, &desk, &mr);
}

void judge(void)
{
	struct regions mr = { 0 };

	duo_up(&d);
	their_mr = open_memory(&d.peer, theirs, LEN);
	/* A device may not know the last one (Linux hw/mlx5/mr.c). */
	if (allowed(register_memory(&d.you, theirs, LEN, 0),
		    IBV_ACCESS_MW_BIND))
		n_rights--;
	registered = 0;
	register_desk(d.you.pd, &desk, &mr);
	if (registered > 4)
		wrong("%d regions are registered, for four parts", registered);
	look_at("letter", mr.letter, desk.letter, sizeof desk.letter, 0);
	look_at("inbox", mr.inbox, desk.inbox, sizeof desk.inbox,
		IBV_ACCESS_LOCAL_WRITE);
	look_at("board", mr.board, desk.board, sizeof desk.board,
		IBV_ACCESS_REMOTE_READ);
	look_at("form", mr.form, desk.form, sizeof desk.form,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	for (int call = 1; call <= 4; call++) {
		about("call %d failed", call); /* for an endless loop */
		failing = call;
		bool ended = fails(one_failure);
		about("%s", "");
		if (!ended)
			wrong("call %d failed, and you did not end the program",
			      call);
	}
}
