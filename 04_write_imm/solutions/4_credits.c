/* SPDX-License-Identifier: MIT */
/* Solution of exercise 4.4 - extend (hard): whose slot is it? */
#include <arpa/inet.h>
#include <errno.h>

#include "../exercises/4_credits.h"
#include "common.h"
#include "lesson.h"

static char data[MESSAGES * SLOT];
static int written, credits; /* completions taken, of each kind */
static uint32_t free_slot[SLOTS] = { 0, 1, 2, 3 };
static int n_free = SLOTS;

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* Waits for a completion: a WRITE of ours is done, or a credit is here. */
static void take_completion(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("completion: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV) {
		written++;
		return;
	}
	credits++;
	uint32_t slot = ntohl(wc.imm_data);
	if (slot >= SLOTS)
		die("a credit for slot %u of %d", slot, SLOTS);
	if (n_free == SLOTS)
		die("a credit too many, for slot %u", slot);
	/* One receive is used up, and the slot is ours again. */
	post_receive(ep);
	free_slot[n_free++] = slot;
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = SLOTS,
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

	qp_to_init(&ep, 0);
	for (int i = 0; i < SLOTS; i++)
		post_receive(&ep);
	send_info(&ep, NULL);
	struct qp_info server = recv_info(&ep, SLOTS * SLOT);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	for (int i = 0; i < MESSAGES; i++) {
		while (n_free == 0)
			take_completion(&ep);
		uint32_t slot = free_slot[--n_free];

		struct ibv_sge message = {
			.addr = (uintptr_t)(data + (size_t)i * SLOT),
			.length = SLOT,
			.lkey = mr->lkey,
		};
		struct ibv_send_wr write = {
			.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = htonl(slot),
			.sg_list = &message,
			.num_sge = 1,
			.wr.rdma = { .remote_addr =
					     server.addr + (size_t)slot * SLOT,
				     .rkey = server.rkey },
		};
		struct ibv_send_wr *bad;
		int rc = ibv_post_send(ep.qp, &write, &bad);
		if (rc)
			die_err(rc, "ibv_post_send");
		while (written <= i) /* credits may come in between */
			take_completion(&ep);
	}
	while (credits < MESSAGES)
		take_completion(&ep);
	barrier(&ep);
	say("PASS %d messages written, %d slots given back", MESSAGES, credits);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
