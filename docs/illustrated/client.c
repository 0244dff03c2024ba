/* SPDX-License-Identifier: MIT */
/*
 * docs/illustrated/client.c - seven requests, each after the one before:
 * the packets of docs/illustrated.html. The last one is refused.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common.h"
#include "illustrated.h"
#include "post.h"

static _Alignas(8) char buf[64];
static struct ibv_mr *mr;
static struct qp_info server;

static void post_one(struct ep *ep, enum ibv_wr_opcode opcode, uint32_t len,
		     size_t offset)
{
	struct ibv_sge sge = { (uintptr_t)buf, len, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(0x01020304),
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { server.addr + offset, server.rkey },
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = server.addr + offset;
		wr.wr.atomic.rkey = server.rkey;
		wr.wr.atomic.compare_add = 5;
	}
	post(ep, &wr);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { 1, 1, 1, 1, 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct region));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	memcpy(buf, FIRST, sizeof FIRST);
	post_one(&ep, IBV_WR_SEND, sizeof FIRST - 1, 0);
	expect_completion(&ep, "first SEND");
	barrier(&ep);

	memcpy(buf, SECOND, sizeof SECOND);
	post_one(&ep, IBV_WR_SEND, sizeof SECOND - 1, 0);
	barrier(&ep);
	expect_completion(&ep, "second SEND");

	post_one(&ep, IBV_WR_RDMA_WRITE, 6, offsetof(struct region, text));
	expect_completion(&ep, "WRITE");
	post_one(&ep, IBV_WR_RDMA_WRITE_WITH_IMM, 2,
		 offsetof(struct region, text[16]));
	expect_completion(&ep, "WRITE with immediate");
	post_one(&ep, IBV_WR_RDMA_READ, 6, offsetof(struct region, text));
	expect_completion(&ep, "READ");
	post_one(&ep, IBV_WR_ATOMIC_FETCH_AND_ADD, 8,
		 offsetof(struct region, counter));
	expect_completion(&ep, "FETCH_AND_ADD");

	post_one(&ep, IBV_WR_RDMA_WRITE, 6, sizeof(struct region));
	struct ibv_wc wc = wait_wc(&ep);
	if (wc.status != IBV_WC_REM_ACCESS_ERR)
		die("a WRITE behind the region: %s",
		    ibv_wc_status_str(wc.status));
	barrier(&ep);
	say("PASS the last one was refused");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
