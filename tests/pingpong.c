/* SPDX-License-Identifier: MIT */
/*
 * tests/pingpong.c - puts a fault into a program that others wrote: ibv_rc_pingpong, for
 * tests/strict -l. Preloaded in front of build/strict.so.
 *
 * FAULT=length: the tenth SEND is one byte longer than its region; lkey: it has another
 * lkey; inline: it has INLINE; dereg: its region goes before it is complete.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#undef ibv_reg_mr

static int (*post)(struct ibv_qp *, struct ibv_send_wr *,
		   struct ibv_send_wr **);
static struct ibv_mr *region;
static int sends;

static int faulty_post(struct ibv_qp *qp, struct ibv_send_wr *w,
		       struct ibv_send_wr **bad)
{
	const char *fault = getenv("FAULT");

	if (++sends != 10 || !fault)
		return post(qp, w, bad);
	struct ibv_sge sge = w->sg_list[0];
	struct ibv_send_wr changed = *w;

	changed.sg_list = &sge;
	if (strcmp(fault, "length") == 0)
		sge.length++;
	else if (strcmp(fault, "lkey") == 0)
		sge.lkey ^= 0xff;
	else if (strcmp(fault, "inline") == 0)
		changed.send_flags |= IBV_SEND_INLINE;
	int rc = post(qp, &changed, bad);
	if (strcmp(fault, "dereg") == 0 && ibv_dereg_mr(region))
		abort();
	return rc;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *(*next)(struct ibv_pd *, void *, size_t, int) =
		dlsym(RTLD_NEXT, "ibv_reg_mr");

	return region = next(pd, addr, len, access);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*next)(struct ibv_device *) =
		dlsym(RTLD_NEXT, "ibv_open_device");
	struct ibv_context *ctx = next(device);

	if (ctx) {
		post = ctx->ops.post_send;
		ctx->ops.post_send = faulty_post;
	}
	return ctx;
}
