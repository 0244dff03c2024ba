/* SPDX-License-Identifier: MIT */
/* Solution of exercise 3.4 - extend (hard): no addresses at all
 */
#include <errno.h>
#include <string.h>

#include "../exercises/4_offsets.h"
#include "common.h"

static struct {
	char heads[RECORDS][HEAD];
	char bodies[RECORDS][BODY];
} own;

static int reads; /* posted */

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	for (struct ibv_send_wr *wr = list; wr; wr = wr->next)
		reads++;
	int rc = ibv_post_send(ep->qp, list, &bad);
	if (rc)
		die_err(rc, "ibv_post_send");
}

/* Do these len bytes of ours equal those at offset `at` of the server's? */
static void compare(const char *got, int at, int len)
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
	struct ibv_qp_cap cap = {
		.max_send_wr = RECORDS,
		.max_recv_wr = 1,
		.max_send_sge = 2,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, DATA);
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	ep.max_rd_atomic = DEPTH;
	qp_to_rts(&ep);
	barrier(&ep);

	memset(&own, '?', sizeof own);
	for (int i = 0; i < RECORDS; i++) {
		struct ibv_sge sge[2] = {
			{ .addr = (uintptr_t)own.heads[i],
			  .length = HEAD,
			  .lkey = mr->lkey },
			{ .addr = (uintptr_t)own.bodies[i],
			  .length = BODY,
			  .lkey = mr->lkey },
		};
		struct ibv_send_wr read = {
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = sge,
			.num_sge = 2,
			.wr.rdma = { .remote_addr = (uint64_t)i * RECORD,
				     .rkey = server.rkey },
		};
		post(&ep, &read);
	}
	for (int i = 0; i < RECORDS; i++) {
		struct ibv_wc wc = wait_wc(&ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("RDMA_READ: %s", ibv_wc_status_str(wc.status));
		if (wc.wr_id != (uint64_t)i)
			die("completion of READ %d, not %d", (int)wc.wr_id, i);
		compare(own.heads[i], i * RECORD, HEAD);
		compare(own.bodies[i], i * RECORD + HEAD, BODY);
	}
	if (reads != RECORDS)
		die("%d READs for %d records", reads, RECORDS);
	barrier(&ep); /* now, and not before, wake the server */
	say("PASS %d READs, each head and each body in its place", reads);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
