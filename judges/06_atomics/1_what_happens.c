/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/1_what_happens.c - two experiments with atomics.
 *
 * before: behind_a_failure is UNANSWERED: choose one, then run it
 * hint1: What does the status of an atomic say, and what does only the
 * hint1: old value say? How long is the word? How many rights are there?
 * hint1.zh: 原子操作的状态说明什么，什么只有旧值才能说明？这个字有多长？一共有
 * hint1.zh: 几种权限？
 * hint2: Read "What is true" in the lesson again: the first point, and
 * hint2: the one that begins with "An atomic needs more than a WRITE".
 * hint2.zh: 重读本课的要点：第一条，以及讲原子操作比 WRITE 多需要什么的那一条。
 * gives away: the list goes on
 * gives away: carries into the upper half
 * gives away: needs no REMOTE_READ
 */
#include "1_what_happens.h"

static uint64_t mine, theirs[2];

/* A swap that fails, and a WRITE behind it. */
static int try_behind_a_failure(void)
{
	struct duo d;

	duo_up(&d);
	struct ibv_sge sge = piece(&mine, 8, open_memory(&d.you, &mine, 8));
	struct ibv_mr *to = open_memory(&d.peer, theirs, sizeof theirs);
	struct ibv_send_wr write =
		request(IBV_WR_RDMA_WRITE, &sge, &theirs[1], to);
	struct ibv_send_wr swap =
		request(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, &theirs[0], to);
	swap.next = &write;
	write.send_flags = IBV_SEND_SIGNALED;
	theirs[0] = 7; /* and the swap expects 0 */
	theirs[1] = 4711;
	post(&d.you, &swap);
	if (wait_wc(&d.you).status)
		return FLUSHED;
	return theirs[1] == 4711 ? SKIPPED : EXECUTED;
}

/* The status of a FETCH_AND_ADD of 1, with no right but that for atomics. */
static int try_add(void)
{
	const int atomic = IBV_ACCESS_REMOTE_ATOMIC;
	struct duo d;

	duo_open(&d, (struct ibv_qp_cap){ 0 });
	duo_connect(&d, 0, IBV_ACCESS_REMOTE_ATOMIC);
	struct ibv_mr *to = register_memory(&d.peer, theirs, sizeof theirs,
					    IBV_ACCESS_LOCAL_WRITE | atomic);
	struct ibv_send_wr wr =
		request(IBV_WR_ATOMIC_FETCH_AND_ADD, NULL, theirs, to);
	wr.wr.atomic.compare_add = 1;
	return outcome(&d.you, wr, &mine, 8, open_memory(&d.you, &mine, 8));
}

void judge(void)
{
	must_choose(behind_a_failure, EXECUTED, FLUSHED, SKIPPED, WAITS);
	must_choose(other_half, THE_SAME, ONE_MORE, BECOMES_0, REFUSED);
	must_choose(only_atomic, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR,
		    IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
	check_answer(behind_a_failure, try_behind_a_failure(),
		     "behind_a_failure: did the request fail, or the compare?");
	theirs[0] = 5ULL << 32 | UINT32_MAX;
	int status = try_add(), half = (int)(theirs[0] >> 32);
	check_answer(other_half, half == 5 ? THE_SAME : ONE_MORE,
		     "other_half: how many bits does the NIC add?");
	check_answer(only_atomic, status,
		     "only_atomic: which right does the NIC ask for?");
}
