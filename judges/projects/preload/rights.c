/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/preload/rights.c - writes down which rights a program grants.
 *
 * Preloaded, it stands between the program and libibverbs. The file RIGHTS_LOG gets a
 * line for each region, "mr RKEY ACCESS", and each QP, "qp NUMBER ACCESS", in hex.
 * With RTR_PAUSE, what the program does after RTR is late, and to stderr goes its path MTU, and
 * whether it has told anything by TCP before; with RENAME_PAUSE, a rename is late.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* By handle, not RTLD_NEXT: a Python module's libibverbs is not in the global scope. */
static void *real(const char *name)
{
	return dlsym(dlopen("libibverbs.so.1", RTLD_LAZY), name);
}

static void record(const char *kind, uint32_t key, unsigned access)
{
	const char *log = getenv("RIGHTS_LOG");
	int fd =
		log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)
		    : -1;

	if (fd == -1)
		return;
	dprintf(fd, "%s %x %x\n", kind, key, access);
	close(fd);
}

/* A call that registers memory, with these parameters; what it hands on follows. */
#define REGISTERS(name, parameters, ...)                          \
	struct ibv_mr *name parameters                            \
	{                                                         \
		struct ibv_mr *(*reg)parameters = real(#name);    \
		struct ibv_mr *mr = reg(__VA_ARGS__);             \
                                                                  \
		if (mr)                                           \
			record("mr", mr->rkey, (unsigned)access); \
		return mr;                                        \
	}

REGISTERS(ibv_reg_mr,
	  (struct ibv_pd * pd, void *addr, size_t length, int access), pd, addr,
	  length, access)
REGISTERS(ibv_reg_mr_iova,
	  (struct ibv_pd * pd, void *addr, size_t length, uint64_t iova,
	   int access),
	  pd, addr, length, iova, access)
REGISTERS(ibv_reg_mr_iova2,
	  (struct ibv_pd * pd, void *addr, size_t length, uint64_t iova,
	   unsigned access),
	  pd, addr, length, iova, access)

/* Have bytes left by a TCP socket of ours? */
static bool has_told(void)
{
	for (int fd = 0; fd < 256; fd++) {
		struct tcp_info info = { 0 };
		socklen_t len = sizeof info;

		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
		    info.tcpi_bytes_sent)
			return true;
	}
	return false;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) =
		real("ibv_modify_qp");
	bool rtr = mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR;
	bool told = rtr && has_told();
	int rc = modify(qp, attr, mask);

	if (rc == 0 && mask & IBV_QP_ACCESS_FLAGS)
		record("qp", qp->qp_num, attr->qp_access_flags);
	if (rc == 0 && rtr && getenv("RTR_PAUSE")) {
		dprintf(2, "path_mtu %u, %s QP info\n", attr->path_mtu,
			told ? "after its" : "before its");
		usleep(500000);
	}
	return rc;
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	if (getenv("RENAME_PAUSE"))
		usleep(500000);
	return (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

int renameat(int a, const char *from, int b, const char *to)
{
	return renameat2(a, from, b, to, 0);
}

int rename(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}
