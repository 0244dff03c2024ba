/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/hello_peer.c - the other side of project 1, for its judge.
 *
 * usage: hello_peer server|client -k TOKEN [-m hold|early] [OPTIONS]
 *
 * It SENDs TOKEN, and says which one it got. hold: it is connected, and then does
 * nothing. early: a server that does not wait for the client's token. The judge
 * reads its stdout.
 */
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

enum { TOKEN_MAX = 64 };

int main(int argc, char **argv)
{
	static char in[TOKEN_MAX], out[TOKEN_MAX];
	const char *token = "", *mode = "";
	const struct own_option own[] = {
		{ 'k', "the token to send", &token },
		{ 'm', "hold or early", &mode },
		{ 0 },
	};
	const char *role = argc > 1 ? argv[1] : "";
	bool server = strcmp(role, "server") == 0;
	struct options opt = parse_args_and(argc - 1, argv + 1, role, 0, own);
	struct ep ep = ep_open(&opt, (struct ibv_qp_cap){ 0 });
	struct ibv_mr *in_mr =
		ibv_reg_mr(ep.pd, in, sizeof in, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *out_mr = ibv_reg_mr(ep.pd, out, sizeof out, 0);
	size_t len = strlen(token);

	if (!in_mr || !out_mr || len >= sizeof out)
		die("a region, or the token (-k), is wrong");
	memcpy(out, token, len + 1);
	/* An early SEND is lost until the client's QP is in RTR: repeat it
	 * soon, so that it comes before a receive that is posted late. */
	ep.timeout = 10;
	ep.retry_cnt = 7;
	ep.rnr_retry = 7; /* without end: stage 6 is about late receives */
	(server ? tcp_accept : tcp_connect)(&ep);
	if (!server)
		send_info(&ep, NULL);
	struct qp_info peer = recv_info(&ep, 0);

	qp_to_init(&ep, 0);
	struct ibv_sge place = { (uintptr_t)in, sizeof in, in_mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &place, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	if (ibv_post_recv(ep.qp, &receive, &bad))
		die("ibv_post_recv");
	qp_to_rtr(&ep, &peer);
	qp_to_rts(&ep);
	if (server)
		send_info(&ep, NULL);
	say("connected");
	if (strcmp(mode, "hold") == 0)
		pause();

	struct ibv_sge text = { (uintptr_t)out, (uint32_t)len, out_mr->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED,
				    .sg_list = &text,
				    .num_sge = 1 };
	bool at_once = !server || strcmp(mode, "early") == 0;
	if (at_once)
		post(&ep, &send);
	for (int n = 0; n < 2; n++) {
		struct ibv_wc wc = wait_wc(&ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("%s", ibv_wc_status_str(wc.status));
		if (wc.opcode != IBV_WC_RECV)
			continue;
		uint32_t plain = 0; /* letters, from ' ' on */
		while (plain < wc.byte_len && in[plain] >= ' ')
			plain++;
		if (plain < wc.byte_len)
			say("got %u bytes, and byte %u is 0x%02x", wc.byte_len,
			    plain, in[plain] & 0xff);
		else
			say("got %.*s", (int)wc.byte_len, in);
		if (!at_once)
			post(&ep, &send);
	}
	barrier(&ep);
	say("PASS both tokens, and the barrier");
	return 0;
}
