/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.4 - extend: whose slot is it?                  *** 45 minutes
 *
 * MESSAGES = 16 messages go through SLOTS = 4 slots in the peer's memory. Each is
 * written to a slot that is free, and the immediate says to which. The peer keeps a
 * slot for a while, and gives the slots back in any order. For each slot it sends
 * an empty SEND_WITH_IMM, whose immediate is the number of the slot, in network
 * order. We call that a credit.
 *
 * Now send_all() uses the slots in turn and waits for no credit. Rewrite it:
 *
 * - Write message 0, 1, 2 ... in order, each into a slot that is free. All slots
 *   are free at first. A slot is free again when you have its credit.
 * - Wait only when no slot is free. Two kinds of completions come then, in any
 *   order: your WRITEs are done, and credits have arrived. wait_wc(ep) returns the
 *   next completion; its opcode is IBV_WC_RECV if it is a credit.
 * - A credit takes one of your receives. SLOTS of them are posted when you start;
 *   for each credit post one again, with post_receive().
 * - Return when all WRITEs are complete and the credits of all slots are here.
 *
 * write_message(ep, s, i, slot) writes message i to that slot, SIGNALED: leave it so.
 * s (struct stock, in judges/04_write_imm/4_credits.h) is only handed on to it.
 *
 * The judge is the peer. It runs twice, and calls send_all() once in each run: what
 * comes last is a credit, or the completion of a WRITE. Whenever you find the CQ empty
 * while you wait, it gives back one to four slots.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "4_credits.h"

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

void send_all(struct ep *ep, const struct stock *s)
{
	for (uint32_t i = 0; i < MESSAGES; i++) /* TODO 4.4 */
		write_message(ep, s, i, i % SLOTS);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct ibv_wc wc = wait_wc(ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("completion: %s", ibv_wc_status_str(wc.status));
		if (wc.opcode == IBV_WC_RECV) /* a credit */
			post_receive(ep);
	}
}
