/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/1_predict.c - three small experiments.
 *
 * before: empty_write is UNANSWERED: choose one, then run it
 * hint1: Which bytes does a request of 0 bytes touch? Who looks at an rkey,
 * hint1: and at which request of a list? Do rights belong to memory or to a
 * hint1: key?
 * hint1.zh: 0 字节的请求访问哪些字节？谁检查 rkey，在链表的哪个请求上检查？权限
 * hint1.zh: 属于内存，还是属于密钥？
 * hint2: Nothing is guarded where no byte is touched. The other NIC takes
 * hint2: requests one after another; what does it do after one that it had to
 * hint2: refuse? The rights stand in ibv_reg_mr.
 * hint2.zh: 不访问任何字节，就没有什么要保护。对端网卡逐个执行请求：拒绝一个之
 * hint2.zh: 后，它怎样对待后面的？权限写在 ibv_reg_mr 里。
 * gives away: an rkey guards bytes
 * gives away: WRITE of 0 bytes
 * gives away: nothing behind it is
 * gives away: memory itself has no
 */
#include <string.h>

#include "1_predict.h"

enum { LEN = 64, PLACES = 3, PLACE = 8 };

static struct duo d[3]; /* an error ends a connection: one for each */
static char out[LEN], in[LEN];

/* Is a WRITE to p a success, or what else? */
static int status_of(struct ep *ep, void *p, size_t len, struct ibv_mr *theirs)
{
	return outcome(ep, request(IBV_WR_RDMA_WRITE, NULL, p, theirs), out,
		       len, open_memory(ep, out, LEN));
}

/* Three WRITEs in one list, the second one with a wrong rkey. */
static int try_list(struct duo *ends)
{
	struct ibv_sge sge =
		piece(out, PLACE, open_memory(&ends->you, out, LEN));
	struct ibv_mr *to = open_memory(&ends->peer, in, LEN);
	struct ibv_send_wr wr[PLACES];
	bool changed[PLACES];

	for (int i = 0; i < PLACES; i++) {
		wr[i] = request(IBV_WR_RDMA_WRITE, &sge, in + PLACE * i, to);
		wr[i].next = i + 1 < PLACES ? &wr[i + 1] : NULL;
	}
	wr[1].wr.rdma.rkey ^= 0x100;
	wr[2].send_flags = IBV_SEND_SIGNALED;
	post(&ends->you, wr);
	for (int i = 1; i < PLACES; i++) /* the error, and what is flushed */
		wait_wc(&ends->you);
	for (int i = 0; i < PLACES; i++)
		changed[i] = in[PLACE * i] == 'x';
	if (!changed[0])
		return NO_PLACE;
	if (changed[1])
		return ALL_THREE;
	return changed[2] ? FIRST_AND_THIRD : ONLY_FIRST;
}

void judge(void)
{
	struct ibv_mr nothing = { .rkey = 0 };

	must_choose(empty_write, IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR,
		    IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_PROT_ERR, NOT_POSTED);
	must_choose(places_changed, NO_PLACE, ONLY_FIRST, FIRST_AND_THIRD,
		    ALL_THREE);
	must_choose(open_keys, ONLY_A, ONLY_B, BOTH, NEITHER);
	for (int i = 0; i < 3; i++)
		duo_up(&d[i]);
	check_answer(empty_write, status_of(&d[0].you, NULL, 0, &nothing),
		     "empty_write: which bytes this WRITE would change");

	memset(out, 'x', LEN);
	check_answer(places_changed, try_list(&d[1]),
		     "places_changed: who finds out, and what is done after "
		     "that?");

	/* By B comes last: it may end the connection. */
	struct ibv_mr *a = open_memory(&d[2].peer, in, LEN);
	struct ibv_mr *b = register_memory(&d[2].peer, in, LEN, 0);
	bool by_a = status_of(&d[2].you, in, LEN, a) == IBV_WC_SUCCESS;
	bool by_b = status_of(&d[2].you, in, LEN, b) == IBV_WC_SUCCESS;
	check_answer(open_keys, by_a * ONLY_A + by_b * ONLY_B,
		     "open_keys: what ibv_reg_mr gives rights to");
}
