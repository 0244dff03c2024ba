/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/hello.solution.c - a solution of project 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "post.h"

static void receive(struct ep *ep, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, 64, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(ep->qp, &wr, &bad))
		die("ibv_post_recv");
}

static struct ibv_wc succeeded(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s", ibv_wc_status_str(wc.status));
	return wc;
}

static struct qp_info their_info(struct ep *ep)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info;
	char why[80] = "memory is open";

	tcp_recv(ep, msg, sizeof msg, "QP info");
	if (!info_unpack(msg, &info, 0, why) || info.len)
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
			       .ib_port = 1 };

	opt.wait_s = env ? (int)strtol(env, NULL, 10) : 6;
	if (!fgets(out, sizeof out, stdin))
		die("no token on stdin");
	out[strcspn(out, "\n")] = 0;

	struct ep ep = ep_open(&opt, (struct ibv_qp_cap){ 0 });
	struct ibv_mr *from = ibv_reg_mr(ep.pd, out, sizeof out, 0);
	struct ibv_mr *to =
		ibv_reg_mr(ep.pd, in, sizeof in, IBV_ACCESS_LOCAL_WRITE);
	if (!from || !to)
		die("ibv_reg_mr");
	qp_to_init(&ep, 0);
	receive(&ep, to);
	if (server) {
		tcp_accept(&ep);
	} else {
		tcp_connect(&ep);
		send_info(&ep, NULL);
	}
	struct qp_info peer = their_info(&ep);
	qp_to_rtr(&ep, &peer);
	qp_to_rts(&ep);
	if (server)
		send_info(&ep, NULL);
	struct ibv_sge text = { (uintptr_t)out, (uint32_t)strlen(out),
				from->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &text,
				  .num_sge = 1 };
	post(&ep, &wr);
	for (int n = 0; n < 2; n++) {
		struct ibv_wc wc = succeeded(&ep);

		if (wc.opcode == IBV_WC_RECV)
			printf("got %.*s\n", (int)wc.byte_len, in);
	}
	barrier(&ep);
	if (ibv_dereg_mr(from) || ibv_dereg_mr(to))
		die("ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
