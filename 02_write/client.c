/* SPDX-License-Identifier: MIT */
/*
 * 02_write/client.c - put bytes into memory of the other machine.
 *
 * An RDMA WRITE names memory twice: ours by (address, lkey), the server's by
 * (address, rkey). The server's program takes no part. Keep server.c open beside
 * this file: what is missing there is the lesson.
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

/* Each piece has its own cache lines. That is only for speed. */
static struct {
	_Alignas(64) char head[HEAD];
	_Alignas(64) char body[BODY];
	_Alignas(64) char tail[TAIL];
	_Alignas(64) uint64_t flag;
} own;
static struct ibv_mr *mr;

/* A piece of our memory, as our NIC sees it. */
static struct ibv_sge sge(const void *p, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)p,
		.length = (uint32_t)len,
		.lkey = mr->lkey,
	};
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 4,
		.max_send_sge = 2,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	/* 0: our NIC only reads this memory, and we grant the server nothing. */
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, 0);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	/* DOC: the-writes. Act 1: three WRITEs, one call, one completion. The
	 * first gathers two of our buffers. At the server they become one run
	 * of bytes, because only our side of a WRITE can be a list. */
	uint64_t page = server.addr + offsetof(struct shared, page);
	struct ibv_sge gather[2] = { sge(own.head, HEAD), sge(own.body, BODY) };
	struct ibv_sge half[2] = { sge(own.tail, TAIL / 2),
				   sge(own.tail + TAIL / 2, TAIL / 2) };
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1,
		  .opcode = IBV_WR_RDMA_WRITE,
		  .sg_list = gather,
		  .num_sge = 2,
		  .wr.rdma = { .remote_addr = page, .rkey = server.rkey },
		  .next = &wr[1] },
		{ .wr_id = 2,
		  .opcode = IBV_WR_RDMA_WRITE,
		  .sg_list = &half[0],
		  .num_sge = 1,
		  .wr.rdma = { .remote_addr = page + PAGE - TAIL,
			       .rkey = server.rkey },
		  .next = &wr[2] },
		{ .wr_id = 3,
		  .opcode = IBV_WR_RDMA_WRITE,
		  .send_flags = IBV_SEND_SIGNALED,
		  .sg_list = &half[1],
		  .num_sge = 1,
		  .wr.rdma = { .remote_addr = page + PAGE - TAIL / 2,
			       .rkey = server.rkey } },
	};
	pattern(own.head, HEAD, 1);
	pattern(own.body, BODY, 2);
	pattern(own.tail, TAIL, 3);
	post(&ep, wr);
	/* DOC: done. The server's NIC has accepted this WRITE and all before it,
	 * and our buffers are ours again. It does not say that the server's CPU
	 * can see the bytes, or that the server's program has looked. */
	if (expect_completion(&ep, "RDMA_WRITE") != 3)
		die("completion of another WRITE, not of the last one");
	say("3 RDMA_WRITEs posted as one list, 1 completion");
	barrier(&ep); /* only now wake the server */
	barrier(&ep); /* the server has looked */

	/* DOC: data-then-flag. Act 2: data, then the flag, each its own WRITE
	 * on one QP, take effect in this order. The bytes of one WRITE have no
	 * order, so its last byte cannot be the flag. */
	uint64_t flag_at = server.addr + offsetof(struct shared, flag);
	struct ibv_sge flag = sge(&own.flag, sizeof own.flag);

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct ibv_send_wr update[2] = {
			{ .opcode = IBV_WR_RDMA_WRITE,
			  .sg_list = &gather[1], /* the body */
			  .num_sge = 1,
			  .wr.rdma = { .remote_addr = page,
				       .rkey = server.rkey },
			  .next = &update[1] },
			{ .wr_id = round,
			  .opcode = IBV_WR_RDMA_WRITE,
			  .send_flags = IBV_SEND_SIGNALED,
			  .sg_list = &flag,
			  .num_sge = 1,
			  .wr.rdma = { .remote_addr = flag_at,
				       .rkey = server.rkey } },
		};
		pattern(own.body, BODY, (int)round);
		own.flag = htobe64(round);
		post(&ep, update);
		if (expect_completion(&ep, "RDMA_WRITE") != round)
			die("completion of another round");
		barrier(&ep); /* the server has read this round's data */
	}
	say("PASS %d WRITEs, %d completions, and the server needed none",
	    3 + 2 * ROUNDS, 1 + ROUNDS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
