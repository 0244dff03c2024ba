/* SPDX-License-Identifier: MIT */
/*
 * Exercise 2.5 - extend: a key that can be taken back          *** 60 minutes
 *
 * Whoever knows the rkey of a region may use it for as long as the region is
 * registered. A memory window has a key of its own and opens a part of a region.
 * Its key can be made void at any time: then it opens nothing. Two requests in your
 * send queue do this. IBV_WR_BIND_MW binds a window of type 2 to a part of a region.
 * IBV_WR_LOCAL_INV makes a key void. The peer can do that, too, by SEND_WITH_INV.
 * The same window is used again and again, but first its old key must be void.
 *
 * Write lend(): it binds mw to the len bytes at p, which are in mr, and returns
 * the key that the peer may use. mw is a window of type 2. mr may be bound to
 * (IBV_ACCESS_MW_BIND), and is closed to the peer itself.
 * - With this key the peer may WRITE there. It may do nothing else, nowhere.
 * - The key works when lend() returns: the completion of the bind was polled.
 *   (rxe of Linux 6.1 binds in ibv_post_send() already. A NIC does not.)
 * - Each bind needs a new key: ibv_inc_rkey() makes one of the present key. A
 *   bind finds the window by its present key, mw->rkey. For type 2 you yourself
 *   must store the new key there.
 * Write take_back(): when it returns, a completion has said that the present key
 * of mw is void. The window stays, to be lent again.
 *
 * Of struct ibv_send_wr, BIND_MW has bind_mw and LOCAL_INV has invalidate_rkey:
 *	struct { struct ibv_mw *mw; uint32_t rkey;
 *		 struct ibv_mw_bind_info bind_info; } bind_mw;
 *	uint32_t invalidate_rkey;
 *	struct ibv_mw_bind_info { struct ibv_mr *mr; uint64_t addr, length;
 *				  unsigned int mw_access_flags; };
 * bind_mw.rkey is the new key. (man ibv_post_send, ibv_inc_rkey, ibv_alloc_mw)
 *
 * post(ep, list) posts a list of requests. expect_completion(ep, "what") takes the
 * next completion. An error ends the program.
 *
 * The judge lends the window three times. The first key it gives back by
 * SEND_WITH_INV, the second one you take back. It looks at your requests and WRITEs
 * with the keys.
 */
#include "5_window.h"

uint32_t lend(struct ep *ep, struct ibv_mw *mw, struct ibv_mr *mr, char *p,
	      size_t len)
{
	(void)ep, (void)mw, (void)p, (void)len; /* TODO 2.5 */
	return mr->rkey;
}

void take_back(struct ep *ep, struct ibv_mw *mw)
{
	(void)ep, (void)mw; /* TODO 2.5 */
}
