/* SPDX-License-Identifier: MIT */
/*
 * tests/latency.c - how long a READ of 8 bytes takes with the lessons' own QPs and
 * wait_wc(): the average of so many, in us. Both ends are here, on two devices;
 * tests/latency lets ib_read_lat and this one take turns.
 *
 * usage: latency SERVER-DEVICE CLIENT-DEVICE TIMES
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "post.h"

enum { WARM_UP = 100 };

static uint64_t memory[2]; /* the server's, the client's */

int main(int argc, char **argv)
{
	struct options opt[2] = { parse_args(1, argv, "server", 0),
				  parse_args(1, argv, "client", 0) };
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct qp_info info[2];
	struct ibv_mr *mr[2];
	struct ep ep[2];

	if (argc != 4)
		die("it takes two devices and a number");
	for (int i = 0; i < 2; i++) {
		opt[i].dev = argv[1 + i];
		ep[i] = ep_open(&opt[i], cap);
		info[i] = own_info(&ep[i]);
		mr[i] = ibv_reg_mr(ep[i].pd, &memory[i], 8,
				   i == 0 ? IBV_ACCESS_REMOTE_READ
					  : IBV_ACCESS_LOCAL_WRITE);
		if (!mr[i])
			die_err(errno, "ibv_reg_mr");
	}
	for (int i = 0; i < 2; i++) {
		qp_to_init(&ep[i], IBV_ACCESS_REMOTE_READ);
		qp_to_rtr(&ep[i], &info[1 - i]);
		qp_to_rts(&ep[i]);
	}
	struct ibv_sge sge = { .addr = (uintptr_t)&memory[1],
			       .length = 8,
			       .lkey = mr[1]->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)&memory[0],
			     .rkey = mr[0]->rkey },
	};
	double start = 0;
	int times = (int)strtol(argv[3], NULL, 10);

	for (int i = -WARM_UP; i < times; i++) {
		if (i == 0)
			start = now_ms();
		memory[0] = (uint64_t)i;
		post(&ep[1], &wr);
		expect_completion(&ep[1], "RDMA_READ");
		if (memory[1] != memory[0])
			die("READ %d brought 0x%llx", i,
			    (unsigned long long)memory[1]);
	}
	say("%.2f us", (now_ms() - start) * 1e3 / times);
	return 0;
}
