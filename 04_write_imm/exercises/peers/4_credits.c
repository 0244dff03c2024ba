/* SPDX-License-Identifier: MIT */
/*
 * The server of exercise 4.4: a few slots, many messages. Which slot a message
 * is in, the immediate of its WRITE says. The server keeps what it is given
 * until all slots are full, then gives some of them back, in an order of its
 * own: the number of each travels as the immediate of an empty SEND.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "../4_credits.h"
#include "common.h"
#include "lesson.h"

static char slots[SLOTS][SLOT];

static struct {
	uint32_t slot, message;
} held[SLOTS]; /* full slots that were not given back */
static unsigned n_held, received, under_way /* credits */;

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* A completion: a credit has arrived, or a message. */
static void take(struct ep *ep, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		die("%s: %s", wc->wr_id ? "credit" : "message",
		    ibv_wc_status_str(wc->status));
	if (wc->opcode == IBV_WC_SEND) {
		under_way--;
		return;
	}
	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
		die("message %u: opcode %d", received, wc->opcode);

	uint32_t slot = ntohl(wc->imm_data);
	if (slot >= SLOTS)
		die("message %u: slot %u of %d", received, slot, SLOTS);
	for (unsigned i = 0; i < n_held; i++)
		if (held[i].slot == slot)
			die("message %u: slot %u was not given back", received,
			    slot);
	if (received == MESSAGES)
		die("more than %d messages", MESSAGES);
	post_receive(ep);
	held[n_held].slot = slot;
	held[n_held++].message = received++;
}

/* A message must stay as it is until its slot is given back. */
static void compare(struct ep *ep, uint32_t slot, uint32_t message)
{
	struct ibv_wc wc;

	for (uint32_t k = 0; k < SLOT; k++) {
		if (slots[slot][k] == byte_at(message * SLOT + k))
			continue;
		/* Overwritten? Then we were told of a message too many. */
		while (ibv_poll_cq(ep->cq, 1, &wc) > 0)
			take(ep, &wc);
		die("message %u: byte %u in slot %u is 0x%02x", message, k,
		    slot, slots[slot][k] & 0xff);
	}
}

static void give_back(struct ep *ep, uint32_t slot)
{
	struct ibv_send_wr credit = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(slot),
	};
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, &credit, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
	under_way++;
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = SLOTS,
		.max_recv_wr = SLOTS + 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);
	memset(slots, '?', sizeof slots);
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, slots, sizeof slots,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, IBV_ACCESS_REMOTE_WRITE);
	/* One more than slots: we want to be told of a message too many. */
	for (int i = 0; i < SLOTS + 1; i++)
		post_receive(&ep);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	for (unsigned batch = 0;; batch++) {
		while (under_way || (n_held < SLOTS && received < MESSAGES)) {
			struct ibv_wc wc = wait_wc(&ep);
			take(&ep, &wc);
		}
		if (n_held == 0)
			break;
		/* One slot, two, three, all of them, and again; never the
		 * one that has been full for longest, if there is another. */
		for (unsigned i = 0; i <= batch % SLOTS && n_held; i++) {
			unsigned pick =
				n_held > 1 ? 1 + batch % (n_held - 1) : 0;
			uint32_t slot = held[pick].slot;

			compare(&ep, slot, held[pick].message);
			held[pick] = held[--n_held];
			give_back(&ep, slot);
		}
	}
	barrier(&ep);
	say("PASS %d messages in %d slots, each whole until I gave it back",
	    MESSAGES, SLOTS);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
