/* SPDX-License-Identifier: MIT */
/*
 * tests/nic.c - stands between a program and libibverbs, and gives answers that rxe
 * never gives: calls that fail, another NIC's limits, events. And takes rights away, and
 * changes what goes over TCP. For tests/nic, tests/least-rights and tests/hostile.
 *
 * It is preloaded. NIC_server in the environment, or NIC_client, or NIC_ and another
 * program's name, says what to do:
 *
 *   calls           say on stderr what the program does. "NIC ibv_poll_cq 1a2b": one of
 *                   these calls, and where, the offset of the call's last byte.
 *                   "RIGHTS mr 1 0x3 4160": its first region (qp: connection) gets these
 *                   flags, and has so many bytes. "SENT 56 4160": a message over TCP of
 *                   56 bytes, which offers a region of so many
 *   fail NAME AT N  the N-th call of NAME from there fails; AT 0: from anywhere
 *   depth N         the device takes N READs and atomics at once, and refuses more, as
 *                   hw/irdma/verbs.c of Linux does
 *   one             the device takes 0 for 1 there, as hw/bnxt_re/qplib_fp.c does
 *   event N         there is an asynchronous event of type N
 *   less KIND FLAGS N  the N-th mr or qp does not get these flags (0x2: 2). FLAGS 0: its
 *                   last bytes are no part of the region, and the program does not know
 *   send HEX AT N   the N-th message over TCP has these bytes at byte AT (0x1a: 1a), and is
 *                   longer if they do not fit
 *   last HEX AT N   the same, but it ends behind them, and the program sleeps until the
 *                   other side hangs up. HEX -: no bytes
 */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#undef ibv_reg_mr

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
	at = strtoul(value + len, &rest, 16);
	number = (int)strtol(*rest ? rest : name, NULL, 10);
}

/* Where in the program a call comes from; 0: the libraries call each other. */
static unsigned long place(void *from)
{
	Dl_info where;

	if (!dladdr(from, &where) || strcmp(basename(where.dli_fname),
					    program_invocation_short_name) != 0)
		return 0;
	return (unsigned long)((char *)from - (char *)where.dli_fbase) - 1;
}

/* Shows the call, or says that it must fail. */
static bool fails(const char *call, void *from)
{
	static unsigned long shown[100];
	int i = 0;

	if (!in_mode("calls") && !in_mode("fail"))
		return false;
	unsigned long offset = place(from);
	if (!offset)
		return false;
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
CALL(_ibv_query_gid_table, -EINVAL, 0)
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

/* The flags that number n of a kind gets, and how many bytes. Those that it loses are its
 * last cache line, or half of what has no two. */
static unsigned granted(const char *kind, int n, unsigned flags, size_t *len)
{
	if (in_mode("calls"))
		fprintf(stderr, "RIGHTS %s %d 0x%x %zu\n", kind, n, flags,
			*len);
	if (!in_mode("less") || strcmp(kind, name) != 0 || n != number)
		return flags;
	if (at == 0)
		*len = *len > 64 ? *len - 64 : *len / 2;
	return flags & ~(unsigned)at;
}

static struct ibv_mr *reg_mr(const char *call, void *from, struct ibv_pd *pd,
			     void *p, size_t len, uint64_t iova, unsigned flags)
{
	static int regions;
	size_t given = len;

	if (fails(call, from)) {
		errno = ENOMEM;
		return NULL;
	}
	if (place(from))
		flags = granted("mr", ++regions, flags, &given);
	struct ibv_mr *mr = (void *)next("ibv_reg_mr_iova2")(
		(long)pd, (long)p, (long)given, (long)iova, flags, 0);
	if (mr)
		mr->length = len;
	return mr;
}

/* The header calls one or the other. */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *p, size_t len, int flags)
{
	return reg_mr("ibv_reg_mr", __builtin_return_address(0), pd, p, len,
		      (uintptr_t)p, (unsigned)flags);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *p, size_t len,
				uint64_t iova, unsigned flags)
{
	return reg_mr("ibv_reg_mr_iova2", __builtin_return_address(0), pd, p,
		      len, iova, flags);
}

/* A QP info has 56 bytes, and the length of a region at its end. */
ssize_t send(int fd, const void *msg, size_t len, int flags)
{
	static int sent;
	unsigned char copy[96] = { 0 };
	uint64_t region;
	size_t end = at;
	bool last = in_mode("last");

	if (len > 56 || !(flags & MSG_NOSIGNAL)) /* it is none over TCP */
		return next("send")(fd, (long)msg, (long)len, flags, 0, 0);
	memcpy(copy, msg, len);
	memcpy(&region, &copy[48], sizeof region);
	if (in_mode("calls"))
		fprintf(stderr, "SENT %zu %zu\n", len, (size_t)be64toh(region));
	if ((!last && !in_mode("send")) || ++sent != number)
		return next("send")(fd, (long)msg, (long)len, flags, 0, 0);
	for (const char *hex = name; hex[0] && hex[1]; hex += 2)
		copy[end++] = (unsigned char)strtoul(
			(char[]){ hex[0], hex[1], '\0' }, NULL, 16);
	if (!last && end < len)
		end = len;
	next("send")(fd, (long)copy, (long)end, flags, 0, 0);
	if (last) {
		poll(&(struct pollfd){ .fd = fd, .events = POLLRDHUP }, 1, -1);
		_exit(1);
	}
	return (ssize_t)len;
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
	static int connections;
	size_t none = 0;

	if (FAILS("ibv_modify_qp"))
		return EINVAL;
	if (mask & IBV_QP_ACCESS_FLAGS && place(__builtin_return_address(0)))
		attr->qp_access_flags = granted("qp", ++connections,
						attr->qp_access_flags, &none);
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
