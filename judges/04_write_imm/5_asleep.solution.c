/* SPDX-License-Identifier: MIT */
/* Solution of exercise 4.5 - told while asleep */
#include <arpa/inet.h>
#include <errno.h>

#include "5_asleep.h"

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* The next completion. */
static struct ibv_wc next(struct ep *ep)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;

	while (!poll_one(ep, &wc)) {
		int rc = ibv_req_notify_cq(ep->cq, 0);

		if (rc)
			die_err(rc, "ibv_req_notify_cq");
		if (poll_one(ep, &wc)) /* it came before we asked */
			break;
		if (ibv_get_cq_event(ep->channel, &cq, &context))
			die_err(errno, "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
	return wc;
}

int receive(struct ep *ep)
{
	int chunks = 0;

	for (;;) {
		struct ibv_wc wc = next(ep);

		if (wc.status != IBV_WC_SUCCESS)
			die("message: %s", ibv_wc_status_str(wc.status));
		post_receive(ep);
		uint32_t word = ntohl(wc.imm_data);

		switch (word >> 28) {
		case DATA:
			arrived(word & VALUE);
			chunks++;
			break;
		case PROGRESS:
			progress(word & VALUE);
			break;
		case STOP:
			return (int)(word & VALUE) - chunks;
		default: /* of a sender that is newer than we are */
			break;
		}
	}
}
