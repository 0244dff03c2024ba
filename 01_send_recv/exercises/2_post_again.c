/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.2 - repair: the stream stops                       * 5 minutes
 *
 * The peer sends short messages. The judge calls take_messages() again and again.
 * It takes from the CQ all that has come, and gives each text to deliver(). A
 * message of 0 bytes means "I am still alive" and is not delivered. But texts
 * arrive damaged, and after a few messages the stream stops.
 *
 * Repair take_messages():
 * - Each text is delivered once, unchanged, in the order in which it came.
 * - When all messages in the CQ are taken, all SLOTS receives are posted again.
 *
 * The receives have the buffers slot[0] to slot[SLOTS - 1]; wr_id is the number of
 * the slot. All are posted before the first call.
 * - post_slot(ep, i) gives slot i to the NIC. From then on the next message may be
 *   written there at any moment, so the judge overwrites the slot at once.
 * - deliver(text, len) is the judge's. It compares the text with what was sent.
 */
#include "2_post_again.h"

void take_messages(struct ep *ep)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(ep->cq, 1, &wc)) == 1) { /* TODO 1.2 */
		if (wc.status != IBV_WC_SUCCESS)
			die("receive: %s", ibv_wc_status_str(wc.status));
		if (wc.byte_len == 0)
			continue; /* the sender is still alive */
		post_slot(ep, wc.wr_id);
		deliver(slot[wc.wr_id], wc.byte_len);
	}
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
}
