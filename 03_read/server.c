/* SPDX-License-Identifier: MIT */
/*
 * 03_read/server.c - be read from, and sleep.
 *
 * All the work is done before the client begins: open the memory, let the
 * connection read, say where it is. Then the NIC answers alone.
 */
#include <errno.h>

#include "common.h"
#include "lesson.h"

static char data[DATA];

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* DOC: first-gate. No LOCAL_WRITE: nobody writes here, not even our
	 * own NIC. */
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, data, sizeof data, IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (int k = 0; k < DATA; k++)
		data[k] = byte_at(k);

	/* DOC: second-gate. */
	qp_to_init(&ep, IBV_ACCESS_REMOTE_READ);
	send_info(&ep, mr);
	/* ep.max_dest_rd_atomic: how many READs our NIC must be able to answer
	 * at once. The NIC keeps state for each: an answer may be lost and
	 * asked for again. ep_open() chose 4, or less for a lesser device. */
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	/* A receive without room: a SEND would take it, or a WRITE with immediate
	 * (lesson 04), and leave a completion. A READ does not. */
	struct ibv_recv_wr unused = { .num_sge = 0 }, *bad;
	int err = ibv_post_recv(ep.qp, &unused, &bad);
	if (err)
		die_err(err, "ibv_post_recv");
	say("%zu bytes open to REMOTE_READ; going to sleep", sizeof data);
	barrier(&ep);

	barrier(&ep); /* asleep in poll(2), until the client is done */
	struct ibv_wc wc;
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("unexpected completion in the server's CQ");
	say("PASS woke up, and the server's CQ is empty");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
