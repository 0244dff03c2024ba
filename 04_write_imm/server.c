/* SPDX-License-Identifier: MIT */
/*
 * 04_write_imm/server.c - be written to, and be told.
 *
 * The data comes as in lesson 02, to an address that the client names. An
 * immediate of 32 bits comes with the data. The immediate takes a receive and
 * makes a completion, as in lesson 01. The receive needs no buffer, because the
 * data does not go there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

static char data[MAX_DATA];

/* A receive without a buffer: room for a notification. */
static void post_receives(struct ep *ep, int n)
{
	for (int i = 0; i < n; i++) {
		struct ibv_recv_wr wr = { .sg_list = NULL, .num_sge = 0 };
		struct ibv_recv_wr *bad;
		int rc = ibv_post_recv(ep->qp, &wr, &bad);

		if (rc)
			die_err(rc, "ibv_post_recv");
	}
}

static void check_bytes(uint32_t at, uint32_t len)
{
	for (uint32_t k = at; k < at + len; k++)
		if (data[k] != byte_at(k))
			die("byte %u is 0x%02x, not 0x%02x", k, data[k] & 0xff,
			    byte_at(k) & 0xff);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_recv_wr = DEPTH + 1, /* one to spare: see the end */
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	memset(data, '?', sizeof data);
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, data, chunk_at(CHUNKS),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_WRITE);
	post_receives(&ep, DEPTH + 1);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	say("%u bytes open to REMOTE_WRITE, %d receives without a buffer",
	    chunk_at(CHUNKS), DEPTH + 1);
	barrier(&ep);

	bool seen[CHUNKS] = { false };
	int by_write = 0, by_send = 0;

	for (int i = 1; i <= CHUNKS; i++) {
		/* DOC: told. One completion, one chunk. When it comes, the chunk
		 * is here, and so is all that was written before the chunk. */
		struct ibv_wc wc = wait_wc(&ep);
		if (wc.status != IBV_WC_SUCCESS)
			die("notification: %s", ibv_wc_status_str(wc.status));
		if (!(wc.wc_flags & IBV_WC_WITH_IMM))
			die("notification: no immediate");

		uint32_t n = ntohl(wc.imm_data);
		if (n >= CHUNKS || seen[n]) /* never trust an index */
			die("notification of chunk %u of %d", n, CHUNKS);
		seen[n] = true;

		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
			by_write++;
			if (wc.byte_len != chunk_len(n)) /* as written */
				die("chunk %u has %u bytes, not %u", n,
				    wc.byte_len, chunk_len(n));
		} else if (wc.opcode == IBV_WC_RECV) {
			by_send++;
			if (wc.byte_len != 0) /* of the SEND, not the WRITE */
				die("a SEND with %u bytes", wc.byte_len);
		} else {
			die("notification: opcode %d", wc.opcode);
		}
		check_bytes(chunk_at(n), chunk_len(n));

		post_receives(&ep, 1);
		if (i % DEPTH == 0)
			barrier(&ep); /* DEPTH more may come */
	}

	/* The end: everything that the client sent has been accepted. One
	 * notification too many would have taken the spare receive. */
	barrier(&ep);
	struct ibv_wc wc;
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("unexpected completion after the last notification");
	say("notified %d times by WRITE_WITH_IMM, %d times by SEND_WITH_IMM",
	    by_write, by_send);
	check_bytes(0, chunk_at(CHUNKS));
	say("PASS %d chunks, each complete when its notification came", CHUNKS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
