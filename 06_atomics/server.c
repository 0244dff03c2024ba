/* SPDX-License-Identifier: MIT */
/*
 * 06_atomics/server.c - words that two clients change at once.
 *
 * The server opens its memory to the clients, sleeps, and counts afterwards. It
 * does not touch the words while the clients change them: the NIC's atomics are
 * atomic among themselves, and not with respect to our CPU.
 *
 * It counts when the clients say over TCP that their requests have completed.
 * That is enough on soft-RoCE. A NIC promises to show us only what came before a
 * receive completion (lesson 04).
 */
#include <errno.h>

#include "common.h"
#include "lesson.h"

static _Alignas(64) struct shared shared;

/* DOC: scope. Two calls return atomic_cap. Only ibv_query_device_ex knows of
 * atomics over PCIe (rdma-core providers/mlx5/verbs.c, get_pci_atomic_caps). */
static const char *scope(const struct ep *ep)
{
	struct ibv_device_attr_ex attr;
	int rc = ibv_query_device_ex(ep->ctx, NULL, &attr);

	if (rc)
		die_err(rc, "ibv_query_device_ex");
	switch (attr.orig_attr.atomic_cap) {
	case IBV_ATOMIC_HCA:
		return "IBV_ATOMIC_HCA: atomic among atomics of this NIC";
	case IBV_ATOMIC_GLOB:
		return "IBV_ATOMIC_GLOB: atomic with respect to the CPU, too";
	default:
		die("%s has no atomics", ep->ctx->device->name);
	}
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);
	struct ep conn[CLIENTS] = { ep };

	note("%s", scope(&ep));
	tcp_accept(&ep);
	conn[1] = ep_second(&ep, cap);

	/* DOC: the-gates. Region and connection must both allow atomics. And
	 * LOCAL_WRITE, because our own NIC writes. */
	unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr = NULL;
	for (int i = 0; i < CLIENTS; i++) {
		conn[i].sock = ep.sock;
		struct qp_info client = recv_info(&conn[i], 0);
		if (!mr)
			mr = ibv_reg_mr(ep.pd, &shared, sizeof shared,
					(int)access | IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			die_err(errno, "ibv_reg_mr");
		qp_to_init(&conn[i], access);
		send_info(&conn[i], mr);
		qp_to_rtr(&conn[i], &client);
		qp_to_rts(&conn[i]);
	}
	barrier(&ep);

	/* This program sleeps in poll(2) during each act. */
	uint64_t all = (uint64_t)CLIENTS * TIMES;
	barrier(&ep);
	if (shared.counter[0] != all / CLIENTS)
		die("act 1: one of each pair should be lost; the counter is %d",
		    (int)shared.counter[0]);
	say("act 1: READ, add, WRITE: %d increments, %d of them lost", (int)all,
	    (int)(all - shared.counter[0]));

	barrier(&ep);
	if (shared.counter[1] != all)
		die("act 2: the counter is wrong");
	say("act 2: FETCH_AND_ADD: %d increments, none lost", (int)all);

	barrier(&ep);
	if (shared.counter[2] != all)
		die("act 3: the counter is wrong");
	say("act 3: COMPARE_AND_SWAP: %d increments, none lost", (int)all);

	barrier(&ep);
	if (shared.record[0] != CLIENTS * LOCKS ||
	    shared.record[1] != CLIENTS * LOCKS || shared.lock != 0)
		die("act 4: updates of the record were lost");
	say("act 4: the lock protected %d updates of two words",
	    CLIENTS * LOCKS);
	say("PASS all sums are right, except in act 1");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&conn[1]);
	ep_close(&conn[0]);
	return 0;
}
