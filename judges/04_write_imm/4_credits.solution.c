/* SPDX-License-Identifier: MIT */
/* Solution of exercise 4.4 - whose slot is it? */
#include <arpa/inet.h>
#include <errno.h>

#include "4_credits.h"

static uint32_t free_slots[SLOTS];
static int n_free, to_come; /* free slots; completions of both kinds */

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

static void write_message(struct ep *ep, const struct stock *s, uint32_t i,
			  uint32_t slot)
{
	struct ibv_sge message = {
		.addr = (uintptr_t)s->data + (size_t)i * SLOT,
		.length = SLOT,
		.lkey = s->lkey,
	};
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(slot),
		.sg_list = &message,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = s->addr + (size_t)slot * SLOT,
			     .rkey = s->rkey },
	};

	post(ep, &write);
}

static void take_completion(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("completion: %s", ibv_wc_status_str(wc.status));
	to_come--;
	if (wc.opcode != IBV_WC_RECV)
		return;
	uint32_t slot = ntohl(wc.imm_data);
	if (slot >= SLOTS || n_free == SLOTS)
		die("a credit for slot %u", slot);
	post_receive(ep);
	free_slots[n_free++] = slot;
}

void send_all(struct ep *ep, const struct stock *s)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		free_slots[n_free++] = i;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		while (n_free == 0)
			take_completion(ep);
		write_message(ep, s, i, free_slots[--n_free]);
		to_come += 2; /* its own, and later the credit */
	}
	while (to_come)
		take_completion(ep);
}
