/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.3 - extend: sleep until woken
 * side: server
 *
 * Here the server does not poll in a circle: next_message() sleeps on the
 * completion channel. But nobody wakes it, for it never asked to be woken. arm()
 * the CQ so that only SOLICITED messages wake you, one for each of the client's
 * twelve batches, and make sure that nothing can slip in between your last look
 * at the CQ and your going to sleep.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

static char slot[DEPTH][MSG_MAX];
static struct ibv_mr *mr;

/* Hands n slots to the NIC, from the first one on, with a single call. */
static void post_receives(struct ep *ep, int first, int n)
{
	struct ibv_recv_wr wr[DEPTH], *bad;
	struct ibv_sge sge[DEPTH];

	for (int i = 0; i < n; i++) {
		memset(slot[first + i], '?', MSG_MAX); /* not left over: new */
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)slot[first + i],
			.length = MSG_MAX,
			.lkey = mr->lkey,
		};
		wr[i] = (struct ibv_recv_wr){
			.wr_id = (uint64_t)(first + i), /* comes back to us */
			.sg_list = &sge[i],
			.num_sge = 1,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
		};
	}
	int rc = ibv_post_recv(ep->qp, wr, &bad);
	if (rc) /* bad is the first one not posted; those before it are */
		die_err(rc, "ibv_post_recv");
}

static int woken;

/* Arms the CQ for one event. The 20 ms are there so that what can slip in
 * before, does slip in. */
__attribute__((unused)) static void arm(struct ep *ep, int solicited_only)
{
	if (!solicited_only)
		die("the CQ is armed for all, not only for SOLICITED");
	usleep(20000);
	int rc = ibv_req_notify_cq(ep->cq, solicited_only);
	if (rc)
		die_err(rc, "ibv_req_notify_cq");
}

/* Sleeps until the CQ has an event for us. */
static void sleep_until_event(struct ep *ep)
{
	struct pollfd p = { .fd = ep->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&p, 1, 500) != 1)
		die("no completion event within 500 ms");
	if (ibv_get_cq_event(ep->channel, &cq, &context))
		die_err(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1); /* or ibv_destroy_cq would wait for it */
	woken++;
}

/* The completion of the oldest receive: its wr_id says which slot it is. */
static struct ibv_wc next_message(struct ep *ep)
{
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	while (ibv_poll_cq(ep->cq, 1, &wc) == 0) /* TODO 1.3 */
		sleep_until_event(ep);
	if (wc.status != IBV_WC_SUCCESS)
		die("receive: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV)
		die("receive: opcode %d", wc.opcode);
	return wc;
}

static void expect(struct ibv_wc wc, int message, const char *want, size_t len)
{
	const char *got = slot[wc.wr_id];
	bool imm = wc.wc_flags & IBV_WC_WITH_IMM;

	if (imm != (message == 4))
		die("message %d carries %s immediate", message,
		    imm ? "an" : "no");
	if (wc.byte_len != len)
		die("message %d has %u bytes, not %zu", message, wc.byte_len,
		    len);
	if (memcmp(got, want, len) != 0)
		die("message %d has other bytes (\"%.8s...\")", message, got);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = DEPTH,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* LOCAL_WRITE, because our NIC writes the messages here. The client
	 * never addresses this memory: no REMOTE_ right is needed. */
	mr = ibv_reg_mr(ep.pd, slot, sizeof slot, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	/* DOC: be-ready-first. Receives may be posted from INIT on, and no
	 * message can reach a QP whose number nobody has been told. */
	qp_to_init(&ep, 0);
	post_receives(&ep, 0, DEPTH);
	say("%d receives posted; now the client may learn our QP number",
	    DEPTH);
	send_info(&ep, NULL);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	/* Act 1: four messages, four receives, whatever their lengths. */
	static char long_one[MSG_MAX];
	memset(long_one, 'L', sizeof long_one);

	struct ibv_wc wc = next_message(&ep);
	expect(wc, 1, TEXT, strlen(TEXT));
	say("slot %d: %u bytes, \"%.*s\"", (int)wc.wr_id, wc.byte_len,
	    (int)wc.byte_len, slot[wc.wr_id]);

	wc = next_message(&ep);
	expect(wc, 2, "", 0);
	say("slot %d: %u bytes: an empty message is a message", (int)wc.wr_id,
	    wc.byte_len);

	wc = next_message(&ep);
	expect(wc, 3, long_one, sizeof long_one);
	say("slot %d: %u bytes: several packets, one message", (int)wc.wr_id,
	    wc.byte_len);

	wc = next_message(&ep);
	expect(wc, 4, TEXT, strlen(TEXT));
	if (ntohl(wc.imm_data) != IMM)
		die("the immediate is 0x%08x, not 0x%08x", ntohl(wc.imm_data),
		    IMM);
	say("slot %d: %u bytes and the immediate 0x%08x", (int)wc.wr_id,
	    wc.byte_len, ntohl(wc.imm_data));

	/* Act 2: nothing is posted any more, and the client sends. Only after
	 * the barrier do we get ready; its NIC tries again until then. */
	barrier(&ep);
	post_receives(&ep, 0, DEPTH);
	wc = next_message(&ep);
	expect(wc, 5, INLINE_TEXT, strlen(INLINE_TEXT));
	say("a message came before its receive: late, but whole");
	post_receives(&ep, (int)wc.wr_id, 1);

	/* Act 3: a stream. Each slot is posted again as soon as it is read;
	 * the barrier after DEPTH of them tells the client so. */
	for (int i = 0; i < STREAM; i++) {
		char want[MSG_MAX];
		size_t len = stream_message(i, want);

		wc = next_message(&ep);
		expect(wc, 6 + i, want, len);
		post_receives(&ep, (int)wc.wr_id, 1);
		if (i % DEPTH == DEPTH - 1)
			barrier(&ep);
	}

	/* The end: all that the client sent has been accepted. DEPTH receives
	 * are posted: a message too many would have taken one of them. */
	barrier(&ep);
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("a completion after the last message");
	note("woken %d times", woken);
	if (woken > 2 + STREAM / DEPTH)
		die("woken %d times for %d batches", woken, 2 + STREAM / DEPTH);
	say("PASS %d messages, each whole, in order, in one receive of its own",
	    5 + STREAM);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
