/* SPDX-License-Identifier: MIT */
/* Solution of exercise 1.3 - sleep until a message wakes you */
#include "3_sleep.h"

void next_message(struct ep *ep, struct ibv_wc *wc)
{
	while (!poll_one(ep, wc)) {
		int rc = ibv_req_notify_cq(ep->cq, 1);

		if (rc)
			die_err(rc, "ibv_req_notify_cq");
		if (poll_one(ep, wc))
			break; /* it came before the CQ was armed */
		sleep_until_event(ep);
	}
}
