/* SPDX-License-Identifier: MIT */
/*
 * judges/03_read/2_freeze.c - READs from processes, after something happened.
 *
 * before: stopped is UNANSWERED: choose one, then run it
 * hint1: Who answers a READ? What of that is still there in each of the
 * hint1: three cases?
 * hint1.zh: 谁响应 READ？三种情况下，响应所需的东西各还剩下哪些？
 * hint2: With soft-RoCE the NIC is the kernel: SIGSTOP stops a process,
 * hint2: not the kernel. After ibv_dereg_mr() the NIC is there, the rkey
 * hint2: is not. When a process ends, its QP ends with it, and nobody
 * hint2: answers. What does your NIC do then, and for how long?
 * hint2.zh: 在软件 RoCE 上，网卡就是内核：SIGSTOP 停的是进程，不是内核。
 * hint2.zh: ibv_dereg_mr() 之后，网卡还在，rkey 没有了。进程结束，它的 QP 也随
 * hint2.zh: 之消失，没有谁来响应。这时本端网卡做什么，做多久？
 * gives away: SIGSTOP
 * gives away: a stopped process
 * gives away: its QP ends with it
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "2_freeze.h"
#include "lesson.h"

enum fate { STOPPED, WITHDRAWN, KILLED };

static const struct ibv_qp_cap cap = { 0 };
static struct duo d; /* of it only the names of the devices are used */

/* Both processes come here, and the peer stays. */
static int status_of_read(enum fate fate)
{
	static char data[DATA];
	int sock[2]; /* both ends stay open: nobody hangs up */
	pid_t pid = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock) || (pid = fork()) < 0)
		die_err(errno, "socketpair or fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct ep ep = ep_open(&d.opt[pid == 0], cap);
	struct ibv_mr *mr = open_memory(&ep, data, DATA);

	ep.sock = sock[pid == 0];
	send_info(&ep, mr);
	struct qp_info other = recv_info(&ep, DATA);
	/* 17 ms for an answer, seven times: long enough for a NIC. */
	if (fate == KILLED)
		ep.timeout = 12;
	qp_to_init(&ep, ALL_REMOTE);
	qp_to_rtr(&ep, &other);
	qp_to_rts(&ep);
	barrier(&ep);
	if (pid == 0 && fate == WITHDRAWN && ibv_dereg_mr(mr))
		die("ibv_dereg_mr");
	if (pid == 0)
		for (;;)
			kill(getpid(), SIGSTOP);
	if (waitpid(pid, NULL, WUNTRACED) != pid)
		die("the peer did not stop");
	if (fate == KILLED) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	struct ibv_send_wr read = {
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { .remote_addr = other.addr, .rkey = other.rkey },
	};

	return outcome(&ep, read, data, DATA, mr);
}

void judge(void)
{
	must_choose_status(stopped);
	must_choose_status(withdrawn);
	must_choose_status(killed);
	duo_open(&d, cap);
	check_answer(stopped, status_of_read(STOPPED),
		     "stopped: which program has to do something for a READ?");
	check_answer(withdrawn, status_of_read(WITHDRAWN),
		     "withdrawn: does the NIC still know the rkey?");
	check_answer(killed, status_of_read(KILLED),
		     "killed: what does your NIC do while nobody answers?");
}
