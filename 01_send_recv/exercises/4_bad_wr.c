/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.4 - extend: half a list                           * 10 minutes
 *
 * Some requests of the list claim to have 99 buffers. ibv_post_send refuses
 * such a request, and posts nothing that stands behind it. What stands before
 * it has been posted.
 *
 * Write post_all(): each request of the list is sent exactly once, in the
 * order of the list. Give a request that was refused one buffer (num_sge = 1);
 * change nothing else. If it is refused again, end the program with
 * die("what"). (man ibv_post_send says what is in bad.)
 *
 * The judge calls post_all() with three lists of four messages and looks at what
 * the peer receives. It posts enough receives and takes all completions.
 */
#include "4_bad_wr.h"

void post_all(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	ibv_post_send(ep->qp, list, &bad); /* TODO 1.4 */
}
