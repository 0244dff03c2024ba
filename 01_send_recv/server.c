/* SPDX-License-Identifier: MIT */
/*
 * 01_send_recv/server.c - receive messages: be ready first.
 *
 * A SEND names no memory at the other end. It is the receiver who decides
 * where a message goes, by posting receives, each with a buffer of its own,
 * before any message comes. They are used up in the order they were posted,
 * one for each message, and must be posted again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

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

/* The completion of the oldest receive: its wr_id says which slot it is. */
static struct ibv_wc next_message(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

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
	struct ibv_qp_cap cap = { .max_recv_wr = DEPTH };
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
	barrier(&ep); /* DEPTH receives are posted: the stream may come */

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
		die("unexpected completion after the last message");
	say("PASS %d messages, each whole, in order, in one receive of its own",
	    5 + STREAM);

	/* Receives use it still, but no message comes any more. */
	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
