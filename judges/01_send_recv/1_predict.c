/* SPDX-License-Identifier: MIT */
/*
 * judges/01_send_recv/1_predict.c - three small experiments.
 *
 * before: how_many is UNANSWERED: choose one, then run it
 * hint1: Which sends make a completion? The README names three kinds.
 * hint1: What happens to the sends that stand behind one that failed? Who
 * hint1: reads the bytes of an INLINE send, and when?
 * hint1.zh: 哪些 SEND 产生 CQE？README 列出了三种。一个 SEND 失败了，排在后面的
 * hint1.zh: SEND 会怎样？INLINE 的数据由谁读，什么时候读？
 * hint2: Look at the bullets "Completions come for", "A message stays one
 * hint2: message" and "INLINE is a copy" of the README, and at the
 * hint2: picture: which receive does the NIC take?
 * hint2.zh: 看 README 中这三条：要点里的“产生 CQE 的请求有三种”和“一条消息始终
 * hint2.zh: 是一条消息”，细节里的“INLINE 就是复制”。再看图：网卡取走哪个接收请求？
 * gives away: though it is not signaled
 * gives away: even if it is not signaled
 * gives away: whatever fits
 * gives away: needs no lkey
 */
#include "1_predict.h"

enum { LEN = 32, LAST = 4 };

static struct duo d[3]; /* an error ends a connection: one for each */
static char out[LEN], in[64];

/* A connection, and receives with this much room; wr_id counts from 0. */
static void begin(struct duo *duo, const size_t *room, int n)
{
	duo_up(duo);
	struct ibv_mr *mr = open_memory(&duo->peer, in, sizeof in);
	for (int i = 0; i < n; i++)
		add_receive(&duo->peer, (uint64_t)i, in, room[i], mr);
}

/* A fifth shows the end: it is flushed, too, behind all the others. */
static int completions_of_four(struct ep *ep)
{
	struct ibv_mr *mr = open_memory(ep, out, LEN);
	struct ibv_sge sge = piece(out, LEN, mr);
	struct ibv_send_wr wr[LAST + 1];
	int n = 0;

	for (int i = 0; i <= LAST; i++) {
		wr[i] = request(IBV_WR_SEND, &sge, NULL, mr);
		wr[i].wr_id = (uint64_t)i;
		wr[i].next = i < LAST ? &wr[i + 1] : NULL;
	}
	wr[0].send_flags = IBV_SEND_SIGNALED;
	post(ep, wr);
	while (wait_wc(ep).wr_id != LAST)
		n++;
	return n;
}

void judge(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };

	must_choose(how_many, 0, 1, 2, 3, 4);
	must_choose(which_receive, TAKES_A, TAKES_B, TAKES_C, TAKES_NONE);
	must_choose(inline_status, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR,
		    IBV_WC_REM_ACCESS_ERR, IBV_WC_LOC_LEN_ERR, NOT_POSTED);

	begin(&d[0], (size_t[]){ 64, 4, 64, 64 }, 4);
	check_answer(how_many, completions_of_four(&d[0].you),
		     "how_many: which sends make a completion if one fails");

	begin(&d[1], (size_t[]){ 8, 64, 32 }, 3);
	outcome(&d[1].you, send, out, LEN, open_memory(&d[1].you, out, LEN));
	check_answer(which_receive, (int)wait_wc(&d[1].peer).wr_id,
		     "which_receive: who chooses the receive, and when");

	begin(&d[2], (size_t[]){ 64 }, 1);
	send.send_flags = IBV_SEND_INLINE;
	check_answer(inline_status, outcome(&d[2].you, send, out, LEN, NULL),
		     "inline_status: what an lkey is for, and to whom");
}
