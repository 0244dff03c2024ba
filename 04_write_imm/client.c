/* SPDX-License-Identifier: MIT */
/*
 * 04_write_imm/client.c - write, and tell.
 *
 * Data and notification in one request: RDMA_WRITE_WITH_IMM. Beside it the
 * same by hand: a plain WRITE, and behind it an empty SEND_WITH_IMM. Either
 * takes one of the server's receives, in the order they are sent.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "common.h"
#include "lesson.h"

static char data[MAX_DATA];
static int posted; /* requests, by all calls of post() */

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
	for (; list; list = list->next)
		posted++;
}

static void expect_completion(struct ep *ep, int wr_id)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("chunk: %s", ibv_wc_status_str(wc.status));
	if (wc.wr_id != (uint64_t)wr_id)
		die("completion of %d, not %d", (int)wc.wr_id, wr_id);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 2 * DEPTH,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, data, sizeof data, 0);
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
		/* Not one after the other: the number has to tell. */
		uint32_t n = (uint32_t)(i * 7 % CHUNKS);
		bool by_hand = i >= CHUNKS / 2;
		bool last = i % DEPTH == DEPTH - 1;

		/* DOC: write-and-tell */
		struct ibv_sge chunk = {
			.addr = (uintptr_t)(data + chunk_at(n)),
			.length = chunk_len(n),
			.lkey = mr->lkey,
		};
		struct ibv_send_wr write = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.send_flags = last ? IBV_SEND_SIGNALED : 0,
			.imm_data = htonl(n),
			.sg_list = &chunk,
			.num_sge = 1,
			.wr.rdma = { .remote_addr = server.addr + chunk_at(n),
				     .rkey = server.rkey },
		};

		/* DOC: by-hand. The SEND is posted behind the WRITE, on the
		 * same QP: it is received when the data is in place. */
		struct ibv_send_wr tell = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.send_flags = write.send_flags,
			.imm_data = htonl(n),
		};
		if (by_hand) {
			write.opcode = IBV_WR_RDMA_WRITE;
			write.send_flags = 0;
			write.next = &tell;
		}
		post(&ep, &write);

		if (last) {
			expect_completion(&ep, i);
			barrier(&ep); /* DEPTH receives are posted again */
		}
	}

	/* The end: the server looks whether it is told once more. We count,
	 * since of a plain WRITE too many it would not be told. */
	barrier(&ep);
	if (posted != CHUNKS + CHUNKS / 2)
		die("%d requests posted, not %d", posted, CHUNKS + CHUNKS / 2);
	say("PASS %d chunks written and told of, %d of them by hand", CHUNKS,
	    CHUNKS / 2);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
