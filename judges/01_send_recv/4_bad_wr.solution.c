/* SPDX-License-Identifier: MIT */
/* Solution of exercise 1.4 - half a list */
#include "4_bad_wr.h"

void post_all(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	while (ibv_post_send(ep->qp, list, &bad)) {
		if (bad->num_sge == 1)
			die("ibv_post_send refused a single buffer");
		bad->num_sge = 1;
		list = bad; /* those before it are under way */
	}
}
