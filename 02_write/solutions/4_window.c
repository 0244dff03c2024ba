/* SPDX-License-Identifier: MIT */
/* Solution of exercise 2.4 - extend (hard): a key that can be taken back
 */
#include <errno.h>

#include "../exercises/4_window.h"
#include "common.h"
#include "lesson.h"

static char memory[3 * WINDOW];

/* The window holds what was written with this key, and no other byte changed. */
static void compare(int key)
{
	static char want[sizeof memory];

	memset(want, '.', sizeof want);
	pattern(want + WINDOW, WINDOW, key);
	for (int k = 0; k < (int)sizeof want; k++)
		if (memory[k] != want[k])
			die("key %d: byte %d is 0x%02x, not 0x%02x", key, k,
			    memory[k] & 0xff, want[k] & 0xff);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 2 * KEYS,
		.max_recv_wr = KEYS,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = sizeof(struct offer),
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	memset(memory, '.', sizeof memory);
	unsigned rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, memory, sizeof memory, (int)rights);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	qp_to_init(&ep, IBV_ACCESS_REMOTE_WRITE);
	for (int i = 0; i < KEYS; i++) {
		struct ibv_recv_wr given_back = { .wr_id = 0 }, *bad;
		int rc = ibv_post_recv(ep.qp, &given_back, &bad);
		if (rc)
			die_err(rc, "ibv_post_recv");
	}
	send_info(&ep, NULL); /* no region: that comes in a SEND */
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	uint64_t window = (uintptr_t)memory + WINDOW;
	struct ibv_mw *mw = ibv_alloc_mw(ep.pd, IBV_MW_TYPE_2);
	if (!mw)
		die_err(errno, "ibv_alloc_mw");
	for (int i = 1; i <= KEYS; i++) {
		uint32_t rkey = ibv_inc_rkey(mw->rkey);
		struct offer offer = {
			.addr = htobe64(window),
			.rkey = htobe32(rkey),
			.len = htobe32(WINDOW),
		};
		struct ibv_sge sge = { .addr = (uintptr_t)&offer,
				       .length = sizeof offer };
		struct ibv_send_wr send = {
			.opcode = IBV_WR_SEND,
			/* Not SIGNALED: the client's answer says more. */
			.send_flags = IBV_SEND_INLINE,
			.sg_list = &sge,
			.num_sge = 1,
		};
		struct ibv_mw_bind_info open = {
			.mr = mr,
			.addr = window,
			.length = WINDOW,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		};
		struct ibv_send_wr bind = {
			.opcode = IBV_WR_BIND_MW,
			.bind_mw = { .mw = mw,
				     .rkey = rkey,
				     .bind_info = open },
			.next = &send, /* told only once it is bound */
		};
		struct ibv_send_wr *bad;
		int rc = ibv_post_send(ep.qp, &bind, &bad);
		if (rc)
			die_err(rc, "ibv_post_send");
		mw->rkey = rkey; /* nobody else writes it there: type 2 */

		/* The client's answer, unless a request of ours has failed. */
		struct ibv_wc wc = wait_wc(&ep);
		if (wc.status != IBV_WC_SUCCESS)
			die("key %d: %s", i, ibv_wc_status_str(wc.status));
		if (wc.opcode != IBV_WC_RECV)
			die("key %d: opcode %d, not the answer", i, wc.opcode);
		/* IP_CSUM_OK, because rxe sets the bit that WITH_INV is inside
		 * the kernel, and here that is its name. */
		if (!(wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK)))
			die("key %d was not given back", i);
		if (wc.invalidated_rkey != rkey)
			die("key %d: another one was given back", i);
		compare(i);
		say("key %d: written with, and given back", i);
	}
	barrier(&ep); /* now the client tries the last one again */
	barrier(&ep); /* it has tried */
	compare(KEYS);
	if (rights & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))
		die("the region itself is open");
	say("PASS %d keys, and after that not a byte has changed", KEYS);

	int rc = ibv_dealloc_mw(mw);
	if (rc)
		die_err(rc, "ibv_dealloc_mw");
	rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
