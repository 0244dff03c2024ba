/* SPDX-License-Identifier: MIT */
/*
 * 03_read/client.c - fetch memory from a server that is asleep.
 *
 * In an RDMA READ a request travels to the server, and data travels back. The
 * server's NIC answers. Its program is told nothing, before or after.
 */
#include <errno.h>
#include <string.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

static char buf[DATA];

/* Do these len bytes equal the server's bytes from offset `at` on? */
static void check_bytes(const char *got, int at, int len)
{
	for (int k = 0; k < len; k++)
		if (got[k] != byte_at(at + k))
			die("byte %d of the server's is 0x%02x here, "
			    "not 0x%02x",
			    at + k, got[k] & 0xff, byte_at(at + k) & 0xff);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { .max_send_wr = RECORDS };
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	/* LOCAL_WRITE, because our own NIC writes what it fetched into buf. No
	 * REMOTE_ right, because the server's NIC only answers our requests. */
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, DATA);
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	/* How many READs we may have under way at once: not more than the
	 * server's max_dest_rd_atomic. The others wait in our send queue.
	 * ep_open() chose 4, or less for a lesser device. */
	note("max_rd_atomic: %u", ep.max_rd_atomic);
	qp_to_rts(&ep);
	barrier(&ep);

	/* DOC: the-read. Act 1: all of it with one READ. */
	struct ibv_sge into = {
		.addr = (uintptr_t)buf,
		.length = DATA,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr read = {
		.opcode = IBV_WR_RDMA_READ, /* a "send" only to the queue */
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &into, /* here: where to put it */
		.num_sge = 1,
		.wr.rdma = { .remote_addr = server.addr, .rkey = server.rkey },
	};
	memset(buf, '?', sizeof buf);
	post(&ep, &read);
	/* Until the completion, buf belongs to the NIC. Now it may hold no
	 * bytes, half of them, or all. */
	expect_completion(&ep, "RDMA_READ");
	check_bytes(buf, 0, DATA);
	say("one RDMA_READ of %d bytes, all equal to the server's", DATA);

	/* DOC: many-reads. Act 2: one READ for each record, all posted at once.
	 * They put the records in reverse order: the last record comes first. */
	struct ibv_sge sge[RECORDS];
	struct ibv_send_wr wr[RECORDS];

	for (int i = 0; i < RECORDS; i++) {
		int place = RECORDS - 1 - i;

		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)(buf + place * RECORD),
			.length = RECORD,
			.lkey = mr->lkey,
		};
		wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge[i],
			.num_sge = 1,
			.wr.rdma = { .remote_addr =
					     server.addr + (uint64_t)i * RECORD,
				     .rkey = server.rkey },
			.next = i + 1 < RECORDS ? &wr[i + 1] : NULL,
		};
	}
	memset(buf, '?', sizeof buf);
	post(&ep, wr);
	for (int i = 0; i < RECORDS; i++) {
		if (expect_completion(&ep, "RDMA_READ") != (uint64_t)i)
			die("the READs did not complete in order");
		check_bytes(buf + (RECORDS - 1 - i) * RECORD, i * RECORD,
			    RECORD);
	}
	barrier(&ep); /* only now wake the server */
	say("PASS %d more, posted at once, each record in its place", RECORDS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
