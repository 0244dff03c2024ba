/* SPDX-License-Identifier: MIT */
/*
 * docs/illustrated/server.c - the server of the connection in docs/illustrated.html.
 *
 * It opens 64 bytes for everything, and is late with its second receive.
 */
#include <errno.h>

#include "common.h"
#include "illustrated.h"
#include "post.h"

static _Alignas(64) struct region region;
static struct ibv_mr *mr;

static void post_receive(struct ep *ep)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)region.inbox,
		.length = sizeof region.inbox,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 1, 2, 1, 1, 0 };
	struct ep ep = ep_open(&opt, cap);
	unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC;

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	mr = ibv_reg_mr(ep.pd, &region, sizeof region,
			(int)access | IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, access);
	post_receive(&ep);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	barrier(&ep);

	expect_completion(&ep, "first SEND");
	barrier(&ep); /* now the client sends again, and then calls it, too */
	barrier(&ep);
	post_receive(&ep);
	post_receive(&ep);
	expect_completion(&ep, "second SEND");
	expect_completion(&ep, "immediate");
	barrier(&ep); /* the client is done, and our QP may be in error */
	say("PASS counter is %d", (int)region.counter);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
