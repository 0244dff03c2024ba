/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/hello.solution.c - a solution of project 1, and wrong ones.
 *
 * FAULT=NAME in the environment: a wrong program; tests/project has their names, stages and
 * verdicts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

static bool waits_for_peer;

static bool fault(const char *name)
{
	const char *given = getenv("FAULT");

	return given && strcmp(given, name) == 0;
}

static void at_exit(void)
{
	bool daemon = fault("daemon-left");
	if ((fault("child-left") || daemon) && waits_for_peer && fork() == 0) {
		if (daemon)
			setsid();
		sleep(60);
		_exit(0);
	}
}

static void receive(struct ep *ep, struct ibv_mr *mr)
{
	uint32_t most = fault("40-bytes") ? 40 : 64;
	struct ibv_sge sge = { (uintptr_t)mr->addr, most, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(ep->qp, &wr, &bad))
		die("ibv_post_recv");
}

static struct ibv_wc succeeded(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS && !fault("any-status"))
		die("%s", ibv_wc_status_str(wc.status));
	return wc;
}

static struct qp_info their_info(struct ep *ep)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info;
	char why[80] = "memory is open";

	tcp_recv(ep, msg, sizeof msg, "QP info");
	if (fault("unused-byte"))
		msg[19] = 0;
	bool right = info_unpack(msg, &info, 0, why) && !info.len;
	if (fault("any-qpn") && info.qpn >> 24)
		right = true;
	if (fault("connects-first"))
		qp_to_rtr(ep, &info);
	if (!right && fault("two-lines"))
		say("FAIL, and once more");
	if (!right && !fault("believes"))
		die("QP info: %s", why);
	return info;
}

int main(int argc, char **argv)
{
	static char in[64], out[65];
	const char *env = getenv("DEADLINE");
	bool server = argc == 3 && strcmp(argv[1], "server") == 0;
	struct options opt = { .role = server ? "server" : "client",
			       .host = server ? NULL : argv[2],
			       .tcp_port = argv[argc - 1],
			       .dev = getenv("DEVICE"),
			       .ib_port = 1,
			       .gid_index = 0 };

	bool late = fault("receive-late") || fault("after-rtr") ||
		    (server && fault("server-receive-late"));
	opt.wait_s = env ? (int)strtol(env, NULL, 10) : 6;
	if (fault("waits"))
		opt.wait_s = 60;
	opt.lesson = fault("other-lesson");
	(void)atexit(at_exit);
	if (!fgets(out, sizeof out, stdin))
		die("no token on stdin");
	out[strcspn(out, fault("one-word") ? " \n" : "\n")] = 0;
	if (fault("first-device"))
		opt.dev = NULL;

	struct ep ep = ep_open(&opt, (struct ibv_qp_cap){ 0 });
	if (fault("same-psn"))
		ep.psn = 4711;
	struct ibv_mr *from = ibv_reg_mr(ep.pd, out, sizeof out, 0);
	struct ibv_mr *to =
		ibv_reg_mr(ep.pd, in, sizeof in, IBV_ACCESS_LOCAL_WRITE);
	if (!from || !to)
		die("ibv_reg_mr");
	qp_to_init(&ep, 0);
	if (!late)
		receive(&ep, to);
	int limit = opt.wait_s;
	if (fault("waits-alone"))
		opt.wait_s = 60;
	if (server)
		tcp_accept(&ep);
	else
		tcp_connect(&ep);
	opt.wait_s = limit;
	if (fault("half-a-message")) {
		tcp_send(&ep, out, 28, "half");
		sleep(60);
	}
	if (!server)
		send_info(&ep, NULL);
	struct qp_info peer = their_info(&ep);
	if (fault("no-rtr"))
		sleep(60);
	if (!fault("connects-first"))
		qp_to_rtr(&ep, &peer);
	if (fault("after-rtr"))
		receive(&ep, to);
	if (fault("no-rts"))
		sleep(60);
	qp_to_rts(&ep);
	if (server)
		send_info(&ep, NULL);
	if (late && !fault("after-rtr")) {
		sleep(1); /* a busy peer SENDs by then, too */
		receive(&ep, to);
	}
	waits_for_peer = true;
	struct ibv_sge text = { (uintptr_t)out,
				(uint32_t)strlen(out) +
					fault("zero-at-the-end"),
				from->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &text };
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	post(&ep, &wr);
	if (fault("early-b"))
		tcp_send(&ep, "B", 1, "too early");
	for (int n = 0; n < 2; n++) {
		struct ibv_wc wc = succeeded(&ep);
		if (wc.opcode != IBV_WC_RECV || wc.status != IBV_WC_SUCCESS)
			continue;
		n += fault("receive-alone");
		bool echo = fault("echo") || (server && fault("server-echo"));
		printf("got %.*s\n", (int)wc.byte_len, echo ? out : in);
		if (server && fault("server-twice"))
			printf("got %.*s\n", (int)wc.byte_len, in);
	}
	barrier(&ep);
	waits_for_peer = false;
	if (ibv_dereg_mr(from) || ibv_dereg_mr(to))
		die("ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
