/* SPDX-License-Identifier: MIT */
/*
 * 04_write_imm/client.c - write, and tell.
 *
 * Data and notification in one request: RDMA_WRITE_WITH_IMM. Then the same by
 * hand: a plain WRITE, and behind it an empty SEND_WITH_IMM. Both ways take one
 * of the server's receives for each chunk, in the order of sending.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

static char data[MAX_DATA];
static struct ibv_mr *mr;
static int posted; /* requests, by all calls of post_counted() */

static void post_counted(struct ep *ep, struct ibv_send_wr *list)
{
	post(ep, list);
	for (; list; list = list->next)
		posted++;
}

/* Chunk n of our memory, as our NIC sees it. */
static struct ibv_sge sge(uint32_t n)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)(data + chunk_at(n)),
		.length = chunk_len(n),
		.lkey = mr->lkey,
	};
}

/* DOC: write-and-tell. One request: the data goes to remote_addr, and n into
 * the completion of a receive. */
static void write_with_imm(struct ep *ep, const struct qp_info *server,
			   uint32_t n, unsigned flags)
{
	struct ibv_sge chunk = sge(n);
	struct ibv_send_wr write = {
		.wr_id = n,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = flags,
		.imm_data = htonl(n),
		.sg_list = &chunk,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = server->addr + chunk_at(n),
			     .rkey = server->rkey },
	};

	post_counted(ep, &write);
}

/* DOC: by-hand. Two requests: the SEND is posted behind the WRITE, on the same
 * QP, so the server receives it when the data is in place. */
static void write_then_send(struct ep *ep, const struct qp_info *server,
			    uint32_t n, unsigned flags)
{
	struct ibv_sge chunk = sge(n);
	struct ibv_send_wr wr[2] = {
		{ .opcode = IBV_WR_RDMA_WRITE,
		  .sg_list = &chunk,
		  .num_sge = 1,
		  .wr.rdma = { .remote_addr = server->addr + chunk_at(n),
			       .rkey = server->rkey },
		  .next = &wr[1] },
		{ .wr_id = n,
		  .opcode = IBV_WR_SEND_WITH_IMM, /* and no bytes */
		  .send_flags = flags,
		  .imm_data = htonl(n) },
	};

	post_counted(ep, wr);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { .max_send_wr = 2 * DEPTH };
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, data, sizeof data, 0);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (uint32_t k = 0; k < sizeof data; k++)
		data[k] = byte_at(k);

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, chunk_at(CHUNKS));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	for (int i = 0; i < CHUNKS; i++) {
		/* Not in order: the server must look at the number. */
		uint32_t n = (uint32_t)(i * 7 % CHUNKS);
		bool last = i % DEPTH == DEPTH - 1;
		unsigned flags = last ? IBV_SEND_SIGNALED : 0;

		if (i < CHUNKS / 2)
			write_with_imm(&ep, &server, n, flags);
		else
			write_then_send(&ep, &server, n, flags);
		if (last) {
			if (expect_completion(&ep, "chunk") != n)
				die("a completion, but not of chunk %u", n);
			barrier(&ep); /* DEPTH receives are posted again */
		}
	}

	/* The end: the server looks for one notification too many. A plain
	 * WRITE too many would make no notification, so we count requests. */
	barrier(&ep);
	if (posted != CHUNKS + CHUNKS / 2)
		die("%d requests posted, not %d", posted, CHUNKS + CHUNKS / 2);
	say("PASS %d chunks written and notified, %d of them by WRITE and SEND",
	    CHUNKS, CHUNKS / 2);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
