/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/hello_peer.c - the other side of project 1, for its judge.
 *
 * usage: hello_peer server|client -k TOKEN [-m MODE] [OPTIONS]
 *
 * It SENDs TOKEN when it has got the other's, and says which one that is. MODE: shy, it sends
 * no QP info; hold, it connects, and does no more; early, it does not wait, and says another MTU
 * than its port's; mute, it does not say 'B'; deaf, it has no receive. The judge reads its stdout.
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

enum { TOKEN_MAX = 64 };

/* In two parts: TCP has no messages. */
static void tell(struct ep *ep, uint8_t mtu)
{
	struct qp_info info = own_info(ep);
	uint8_t msg[INFO_LEN];

	info.lid = info.mtu = mtu; /* any LID is right */
	info_pack(msg, &info, 0);
	tcp_send(ep, msg, 30, "QP info");
	usleep(100000);
	tcp_send(ep, msg + 30, INFO_LEN - 30, "QP info");
}

int main(int argc, char **argv)
{
	static char in[TOKEN_MAX + 1], out[TOKEN_MAX + 1];
	const char *token = "", *mode = "";
	const struct own_option own[] = {
		{ 'k', "the token to send", &token },
		{ 'm', "shy, hold, early, mute or deaf", &mode },
		{ 0 },
	};
	const char *role = argc > 1 ? argv[1] : "";
	bool server = strcmp(role, "server") == 0;
	struct options opt = parse_args_and(argc - 1, argv + 1, role, 0, own);
	bool at_once = strcmp(mode, "early") == 0;
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
	if (strcmp(mode, "shy") == 0) {
		say("connected by TCP");
		pause();
	}
	if (!server)
		tell(&ep, at_once ? IBV_MTU_256 : (uint8_t)ep.mtu);
	struct qp_info peer = recv_info(&ep, 0);
	if (peer.lid != ep.lid || peer.mtu != ep.mtu || peer.len)
		die("QP info: its LID, MTU or length is not that of the table");
	qp_to_init(&ep, 0);
	struct ibv_sge place = { (uintptr_t)in, sizeof in, in_mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &place, .num_sge = 1 }, *bad;
	bool deaf = strcmp(mode, "deaf") == 0;
	if (!deaf && ibv_post_recv(ep.qp, &receive, &bad))
		die("ibv_post_recv");
	usleep(200000); /* a server's SEND is lost, and repeated */
	qp_to_rtr(&ep, &peer);
	qp_to_rts(&ep);
	if (server)
		tell(&ep, at_once ? IBV_MTU_4096 : (uint8_t)ep.mtu);
	say("connected");
	if (strcmp(mode, "hold") == 0)
		pause();
	struct ibv_sge text = { (uintptr_t)out, (uint32_t)len, out_mr->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED,
				    .sg_list = &text,
				    .num_sge = 1 };
	struct pollfd tcp = { .fd = ep.sock, .events = POLLIN };
	if (at_once)
		post(&ep, &send);
	if (deaf) {
		usleep(200000); /* a client gets to RTR */
		post(&ep, &send);
		wait_wc(&ep);
		receive.num_sge = 0; /* no room: its SEND ends with an error */
		if (server && ibv_post_recv(ep.qp, &receive, &bad))
			die("ibv_post_recv");
		tcp_recv(&ep, in, 1, "waiting for no 'B'");
		die("it said 'B', and its SEND cannot be complete");
	}
	for (int n = 0; n < 2; n++) {
		struct ibv_wc wc = wait_wc(&ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("%s", ibv_wc_status_str(wc.status));
		if (wc.opcode != IBV_WC_RECV)
			continue;
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			die("an immediate came, too");
		uint32_t plain = 0; /* letters, from ' ' on */
		while (plain < wc.byte_len && (uint8_t)in[plain] >= ' ')
			plain++;
		if (plain < wc.byte_len)
			say("got %u bytes, and byte %u is 0x%02x", wc.byte_len,
			    plain, in[plain] & 0xff);
		else
			say("got %.*s", (int)wc.byte_len, in);
		if (!at_once && poll(&tcp, 1, 200) > 0)
			die("it said 'B', or hung up, before our token came");
		if (!at_once)
			post(&ep, &send);
	}
	if (strcmp(mode, "mute") == 0) {
		tcp_recv(&ep, in, 1, "the other's 'B'");
		say("has the other's 'B'");
		pause();
	}
	usleep(400000); /* who does not wait for our 'B' hangs up by then */
	barrier(&ep);
	if (poll(&(struct pollfd){ .fd = ep.sock }, 1, 100) > 0)
		die("it hung up before our 'B'");
	say("PASS both tokens, and the barrier");
	return 0;
}
