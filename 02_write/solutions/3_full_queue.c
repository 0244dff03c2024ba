/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.3 - extend: a hundred WRITEs, sixteen places */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>

#include "common.h"
#include "lesson.h"

/* Each piece on cache lines of its own: for speed; for nothing else. */
static struct {
	_Alignas(64) char head[HEAD];
	_Alignas(64) char body[BODY];
	_Alignas(64) char tail[TAIL];
	_Alignas(64) uint64_t flag;
} own;
static struct ibv_mr *mr;

enum { PLACES = 16, PIECES = 100, PIECE = BODY / PIECES };
static int queued; /* posted, and not known to be done */
static int polled; /* completions */

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	for (struct ibv_send_wr *wr = list; wr; wr = wr->next)
		if (++queued > PLACES)
			die("%d requests in a send queue of %d: "
			    "ENOMEM on hardware",
			    queued, PLACES);
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
}

/*
 * The completion of a WRITE: the server's NIC has accepted it, and all before
 * it, for good; our buffers are ours again. It does not say that the server's
 * CPU sees the bytes already, still less that its program has looked.
 */
static void expect_completion(struct ep *ep, uint64_t wr_id)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("RDMA_WRITE: %s", ibv_wc_status_str(wc.status));
	if (wc.wr_id != wr_id)
		die("completion of WRITE %d, not %d", (int)wc.wr_id,
		    (int)wr_id);
	queued = 0; /* it was the last one posted: all are done */
	polled++;
}

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
		.max_send_wr = PLACES,
		.max_recv_wr = 1,
		.max_send_sge = 2,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	/* 0: our NIC only reads it, and the server is granted nothing. */
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, 0);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	/* DOC: the-writes. Act 1: the body in 100 pieces, below; then the head
	 * and the tail: three WRITEs, one call. */
	uint64_t page = server.addr + offsetof(struct shared, page);
	struct ibv_sge gather[2] = { sge(own.head, HEAD), sge(own.body, BODY) };
	struct ibv_sge half[2] = { sge(own.tail, TAIL / 2),
				   sge(own.tail + TAIL / 2, TAIL / 2) };
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1,
		  .opcode = IBV_WR_RDMA_WRITE,
		  .sg_list = gather,
		  .num_sge = 1, /* the head */
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
	for (int i = 0; i < PIECES; i++) {
		struct ibv_sge piece = sge(own.body + i * PIECE, PIECE);
		struct ibv_send_wr one = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = i % PLACES == PLACES - 1
					      ? IBV_SEND_SIGNALED
					      : 0,
			.sg_list = &piece,
			.num_sge = 1,
			.wr.rdma = { .remote_addr = page + HEAD +
						    (uint64_t)(i * PIECE),
				     .rkey = server.rkey },
		};
		post(&ep, &one);
		if (one.send_flags)
			expect_completion(&ep, one.wr_id);
	}
	wr[0].next = &wr[1];
	post(&ep, wr);
	expect_completion(&ep, 3);
	if (polled > 7)
		die("%d completions, 7 would do", polled);
	say("%d RDMA_WRITEs, never more than %d in the queue", PIECES + 3,
	    PLACES);
	barrier(&ep); /* now, and not before, wake the server */
	barrier(&ep); /* it has looked */

	/* DOC: data-then-flag. Act 2: data, then the flag, each its own WRITE
	 * on one QP, take effect in this order. Between the bytes of one WRITE
	 * there is no order: its last byte would be no flag. */
	struct ibv_sge flag_sge = sge(&own.flag, sizeof own.flag);

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct ibv_send_wr flag_wr = {
			.wr_id = round,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &flag_sge,
			.num_sge = 1,
			.wr.rdma = { .remote_addr =
					     server.addr +
					     offsetof(struct shared, flag),
				     .rkey = server.rkey },
		};
		struct ibv_send_wr data_wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &gather[1], /* the body */
			.num_sge = 1,
			.wr.rdma = { .remote_addr = page, .rkey = server.rkey },
			.next = &flag_wr,
		};
		pattern(own.body, BODY, (int)round);
		own.flag = htobe64(round);
		post(&ep, &data_wr);
		expect_completion(&ep, round);
		barrier(&ep); /* the server has read this round's data */
	}
	say("PASS %d WRITEs, and the server needed no completion",
	    PIECES + 3 + 2 * ROUNDS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
