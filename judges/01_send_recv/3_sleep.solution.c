/* SPDX-License-Identifier: MIT */
/* Solution of exercise 1.3 - sleep until a message wakes you */
#include "3_sleep.h"

static bool look(struct ep *ep, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(ep->cq, 1, wc);

	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	return n == 1;
}

void next_message(struct ep *ep, struct ibv_wc *wc)
{
	while (!look(ep, wc)) {
		int rc = ibv_req_notify_cq(ep->cq, 1);

		if (rc)
			die_err(rc, "ibv_req_notify_cq");
		if (look(ep, wc))
			break; /* it came before the CQ was armed */
		sleep_until_event(ep);
	}
}
