/* SPDX-License-Identifier: MIT */
/*
 * tests/rights.c - stands between a lesson and what grants rights, and takes
 * one of them away; for tests/least-rights.
 *
 * It is linked in with --wrap. It numbers the regions ("mr") and connections
 * ("qp") of a program in the order in which they come, and says on stderr what
 * each grants: "RIGHTS mr 1 0x3 4160", the flags and the bytes. RIGHTS_LESS_server
 * (or _client) in the environment, say "mr 1 0x2", takes that flag from that one;
 * "end 1 1" leaves its last bytes outside, although the program does not know.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#undef ibv_reg_mr

struct ibv_mr *__real_ibv_reg_mr(struct ibv_pd *pd, void *at, size_t len,
				 int access);
struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *at, size_t len,
				 int access);
struct ibv_mr *__real_ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t len,
				       uint64_t iova, unsigned access);
struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t len,
				       uint64_t iova, unsigned access);
void __real_qp_to_init(struct ep *ep, unsigned access);
void __wrap_qp_to_init(struct ep *ep, unsigned access);

/* The flags to take from number n of a kind; for "end", 1. */
static unsigned less(const char *kind, int n)
{
	const char *role = program_invocation_short_name, *want;
	char name[32], ours[32];

	snprintf(name, sizeof name, "RIGHTS_LESS_%s", role);
	snprintf(ours, sizeof ours, "%s %d ", kind, n);
	want = getenv(name);
	if (!want || strncmp(want, ours, strlen(ours)) != 0)
		return 0;
	return (unsigned)strtoul(want + strlen(ours), NULL, 16);
}

/* A region without its last cache line, or half if it has no two. */
static size_t shorter(size_t len)
{
	return len > 64 ? len - 64 : len / 2;
}

static int regions, connections;

static void show(const char *kind, int n, unsigned access, size_t len)
{
	fprintf(stderr, "RIGHTS %s %d 0x%x %zu\n", kind, n, access, len);
}

struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *at, size_t len,
				 int access)
{
	int n = ++regions;
	bool end = less("end", n);

	show("mr", n, (unsigned)access, len);
	access &= ~(int)less("mr", n);
	struct ibv_mr *mr =
		__real_ibv_reg_mr(pd, at, end ? shorter(len) : len, access);
	if (mr)
		mr->length = len;
	return mr;
}

struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t len,
				       uint64_t iova, unsigned access)
{
	int n = ++regions;
	bool end = less("end", n);

	show("mr", n, access, len);
	access &= ~less("mr", n);
	struct ibv_mr *mr = __real_ibv_reg_mr_iova2(
		pd, at, end ? shorter(len) : len, iova, access);
	if (mr)
		mr->length = len;
	return mr;
}

void __wrap_qp_to_init(struct ep *ep, unsigned access)
{
	int n = ++connections;

	show("qp", n, access, 0);
	__real_qp_to_init(ep, access & ~less("qp", n));
}
