/* SPDX-License-Identifier: MIT */
/*
 * tests/nic.c - stands between a program and libibverbs, and gives answers that rxe
 * never gives: calls that fail, another NIC's limits, events. For tests/nic.
 *
 * It is preloaded. NIC_server in the environment, or NIC_client, or NIC_ and another
 * program's name, says what to do:
 *
 *   calls           say on stderr which of these calls the program makes, and where:
 *                   "NIC ibv_poll_cq 1a2b", the offset of the return address
 *   fail NAME AT N  the N-th call of NAME from there fails; AT 0: from anywhere
 *   depth N         the device takes N READs and atomics at once, and refuses more, as
 *                   hw/irdma/verbs.c of Linux does
 *   one             the device takes 0 for 1 there, as hw/bnxt_re/qplib_fp.c does
 *   event N         there is an asynchronous event of type N
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>

static char mode[16], name[48];
static unsigned long at;
static int number, event_fd = -1;
static struct ibv_context_ops real;
static struct verbs_context real_ex;

static bool in_mode(const char *wanted)
{
	return strcmp(mode, wanted) == 0;
}

__attribute__((constructor)) static void read_mode(void)
{
	char variable[64], *rest;
	int len = 0;

	snprintf(variable, sizeof variable, "NIC_%s",
		 program_invocation_short_name);
	const char *value = getenv(variable);
	if (!value ||
	    sscanf(value, "%15s%n %47s%n", mode, &len, name, &len) < 1)
		return;
	if (in_mode("fail")) {
		at = strtoul(value + len, &rest, 16);
		number = (int)strtol(rest, NULL, 10);
	} else {
		number = (int)strtol(name, NULL, 10);
	}
}

/* Shows the call, or says that it must fail. */
static bool fails(const char *call, void *from)
{
	unsigned long offset;
	Dl_info where;

	if ((!in_mode("calls") && !in_mode("fail")) || !dladdr(from, &where) ||
	    strcmp(basename(where.dli_fname), program_invocation_short_name) !=
		    0)
		return false; /* the libraries call each other */
	offset = (unsigned long)((char *)from - (char *)where.dli_fbase);
	static unsigned long shown[100];
	int i = 0;

	while (i < 99 && shown[i] && shown[i] != offset)
		i++;
	if (in_mode("calls") && shown[i] != offset) {
		shown[i] = offset;
		fprintf(stderr, "NIC %s %lx\n", call, offset);
	}
	return in_mode("fail") && strcmp(call, name) == 0 &&
	       (at == 0 || at == offset) && --number == 0;
}
#define FAILS(call) fails(call, __builtin_return_address(0))

/* Exported functions, with up to six words as arguments: they are only passed on. */
typedef long (*any)(long, long, long, long, long, long);
#define CALL(call, wrong, err)                                           \
	long nic_##call(long a, long b, long c, long d, long e,          \
			long f) __asm__(#call);                          \
	long nic_##call(long a, long b, long c, long d, long e, long f)  \
	{                                                                \
		if (FAILS(#call)) {                                      \
			errno = err;                                     \
			return wrong;                                    \
		}                                                        \
		return ((any)dlsym(RTLD_NEXT, #call))(a, b, c, d, e, f); \
	}
CALL(ibv_get_device_list, 0, ENOMEM)
CALL(ibv_close_device, -1, EIO)
CALL(_ibv_query_gid_ex, EINVAL, 0)
CALL(ibv_alloc_pd, 0, ENOMEM)
CALL(ibv_dealloc_pd, EBUSY, 0)
CALL(ibv_create_comp_channel, 0, ENOMEM)
CALL(ibv_destroy_comp_channel, EBUSY, 0)
CALL(ibv_create_cq, 0, ENOMEM)
CALL(ibv_destroy_cq, EBUSY, 0)
CALL(ibv_create_qp, 0, ENOMEM)
CALL(ibv_destroy_qp, EBUSY, 0)
CALL(ibv_create_srq, 0, ENOMEM)
CALL(ibv_destroy_srq, EBUSY, 0)
CALL(ibv_reg_mr, 0, ENOMEM)
CALL(ibv_reg_mr_iova2, 0, ENOMEM)
CALL(ibv_dereg_mr, EBUSY, 0)
CALL(ibv_get_cq_event, -1, EIO)
CALL(pthread_create, EAGAIN, 0)
CALL(pthread_join, EINVAL, 0)
CALL(pthread_barrier_init, EAGAIN, 0)
CALL(system, 256, 0)

static any next(const char *call)
{
	return (any)dlsym(RTLD_NEXT, call);
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	if (FAILS("ibv_query_device"))
		return EIO;
	int rc = (int)next("ibv_query_device")((long)ctx, (long)attr, 0, 0, 0,
					       0);

	if (rc == 0 && in_mode("depth"))
		attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = number;
	return rc;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (FAILS("ibv_modify_qp"))
		return EINVAL;
	if (in_mode("depth") && (((mask & IBV_QP_MAX_QP_RD_ATOMIC) &&
				  attr->max_rd_atomic > number) ||
				 ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) &&
				  attr->max_dest_rd_atomic > number)))
		return EINVAL;
	if (in_mode("one") && attr->max_rd_atomic == 0)
		attr->max_rd_atomic = 1;
	if (in_mode("one") && attr->max_dest_rd_atomic == 0)
		attr->max_dest_rd_atomic = 1;
	if (in_mode("event") && attr->qp_state == IBV_QPS_RTS)
		event_fd = qp->context->async_fd = eventfd(1, EFD_CLOEXEC);
	return (int)next("ibv_modify_qp")((long)qp, (long)attr, mask, 0, 0, 0);
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	uint64_t n;

	if (FAILS("ibv_get_async_event")) {
		errno = EIO;
		return -1;
	}
	if (event_fd == -1)
		return (int)next("ibv_get_async_event")((long)ctx, (long)event,
							0, 0, 0, 0);
	if (read(event_fd, &n, sizeof n) != sizeof n)
		return -1;
	*event = (struct ibv_async_event){
		.event_type = (enum ibv_event_type)number,
	};
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (event_fd == -1)
		next("ibv_ack_async_event")((long)event, 0, 0, 0, 0, 0);
}

/* What the header's inline functions call through the context. */
static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return FAILS("ibv_poll_cq") ? -1 : real.poll_cq(cq, n, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	if (FAILS("ibv_req_notify_cq"))
		return EINVAL;
	return real.req_notify_cq(cq, solicited_only);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list,
		     struct ibv_send_wr **bad)
{
	if (!FAILS("ibv_post_send"))
		return real.post_send(qp, list, bad);
	*bad = list;
	return ENOMEM;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *list,
		     struct ibv_recv_wr **bad)
{
	if (!FAILS("ibv_post_recv"))
		return real.post_recv(qp, list, bad);
	*bad = list;
	return ENOMEM;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *list,
			 struct ibv_recv_wr **bad)
{
	if (!FAILS("ibv_post_srq_recv"))
		return real.post_srq_recv(srq, list, bad);
	*bad = list;
	return ENOMEM;
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct ibv_port_attr *attr, size_t len)
{
	if (FAILS("ibv_query_port"))
		return EIO;
	return real_ex.query_port(ctx, port, attr, len);
}

static int query_device_ex(struct ibv_context *ctx,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t len)
{
	if (FAILS("ibv_query_device_ex"))
		return EIO;
	return real_ex.query_device_ex(ctx, input, attr, len);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *ctx,
				   struct ibv_qp_init_attr_ex *attr)
{
	if (FAILS("ibv_create_qp_ex")) {
		errno = ENOMEM;
		return NULL;
	}
	return real_ex.create_qp_ex(ctx, attr);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (FAILS("ibv_open_device")) {
		errno = EIO;
		return NULL;
	}
	struct ibv_context *ctx =
		(void *)next("ibv_open_device")((long)device, 0, 0, 0, 0, 0);
	if (!ctx || !*mode)
		return ctx;
	struct verbs_context *ex = verbs_get_ctx(ctx);

	real = ctx->ops;
	real_ex = *ex;
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = req_notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
	ctx->ops.post_srq_recv = post_srq_recv;
	ex->query_port = query_port;
	ex->query_device_ex = query_device_ex;
	ex->create_qp_ex = create_qp_ex;
	return ctx;
}
