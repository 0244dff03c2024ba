/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/1_predict.c - three small experiments.
 *
 * before: empty_write is UNANSWERED: choose one, then run it
 * hint1: Which bytes does a request of 0 bytes touch? What does the first
 * hint1: packet of a WRITE tell the other NIC? Do rights belong to memory
 * hint1: or to a key?
 * hint2: Nothing is guarded where no byte is touched. The first packet
 * hint2: carries address, rkey and the length of the whole WRITE. The
 * hint2: rights stand in ibv_reg_mr.
 * gives away: an rkey guards bytes
 * gives away: WRITE of 0 bytes
 * gives away: before the first byte
 * gives away: memory itself has no
 */
#include <string.h>

#include "1_predict.h"

enum { LEN = 3000 };

static struct duo d[3]; /* an error ends a connection: one for each */
static char out[LEN], in[LEN];

/* Is a WRITE to p a success, or what else? */
static int status_of(struct ep *ep, void *p, size_t len, struct ibv_mr *theirs)
{
	return outcome(ep, request(IBV_WR_RDMA_WRITE, NULL, p, theirs), out,
		       len, open_memory(ep, out, LEN));
}

void judge(void)
{
	struct ibv_mr nothing = { .rkey = 0 };

	must_choose(empty_write, IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR,
		    IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_PROT_ERR, NOT_POSTED);
	must_choose(bytes_changed, NONE, WHOLE_PACKETS, ALL_THAT_FIT, ALL);
	must_choose(open_keys, ONLY_A, ONLY_B, BOTH, NEITHER);
	for (int i = 0; i < 3; i++)
		duo_up(&d[i]);
	check_answer(empty_write, status_of(&d[0].you, NULL, 0, &nothing),
		     "empty_write: which bytes this WRITE would change");

	memset(out, 'x', LEN);
	struct ibv_mr *a = open_memory(&d[1].peer, in, LEN - 1);
	status_of(&d[1].you, in, LEN, a);
	check_answer(
		bytes_changed, memchr(in, 'x', LEN) ? WHOLE_PACKETS : NONE,
		"bytes_changed: when the other NIC knows how long a WRITE is");

	/* By B comes last: it may end the connection. */
	a = open_memory(&d[2].peer, in, 64);
	struct ibv_mr *b = register_memory(&d[2].peer, in, 64, 0);
	bool by_a = status_of(&d[2].you, in, 64, a) == IBV_WC_SUCCESS;
	bool by_b = status_of(&d[2].you, in, 64, b) == IBV_WC_SUCCESS;
	check_answer(open_keys, by_a * ONLY_A + by_b * ONLY_B,
		     "open_keys: what ibv_reg_mr gives rights to");
}
