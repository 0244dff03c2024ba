/* SPDX-License-Identifier: MIT */
/*
 * judges/00_hello/1_predict.c - three small experiments with SEND.
 *
 * before: asleep is UNANSWERED: choose one, then run it
 * hint1: Who puts a message into memory, and who sends the ACK? TCP may put
 * hint1: two messages together: where would a queue pair put them?
 * hint1.zh: 谁把消息放进内存，谁回 ACK？TCP 可能把两条消息合在一起，QP 会把它们
 * hint1.zh: 放到哪里？
 * hint2: Look at the picture in Step 3 of the README: which of
 * hint2: its steps need a program? And at what IBV_SEND_SIGNALED does in
 * hint2: client.c, and to whose completion.
 * hint2.zh: 看 README 第 3 步的图：哪几步需要程序参与？再看 client.c 里的
 * hint2.zh: IBV_SEND_SIGNALED：它起什么作用，影响谁的 CQE？
 * gives away: needs no program
 * gives away: a receive for each message
 * gives away: a receive always has
 * gives away: not the peer's program
 */
#include "1_predict.h"

enum { LEN = 5, ROOM = 64, A_WHILE = 300 /* ms, for what must not come */ };

static struct duo d;
static char out[LEN], in[2][ROOM];

/* What the peer finds after two messages. */
static int found_by_peer(void)
{
	struct ibv_wc first = wait_wc(&d.peer), second = { .byte_len = 0 };
	bool two = completes_within(&d.peer, A_WHILE, &second);

	if (two && first.byte_len == LEN && second.byte_len == LEN)
		return TWO_OF_5;
	if (two && first.byte_len == ROOM && second.byte_len == ROOM)
		return TWO_OF_64;
	if (!two && first.byte_len == 2 * LEN)
		return ONE_OF_10;
	return !two && first.byte_len == ROOM ? ONE_OF_64 : SOMETHING_ELSE;
}

void judge(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	must_choose(asleep, IBV_WC_SUCCESS, IBV_WC_RNR_RETRY_EXC_ERR,
		    IBV_WC_RETRY_EXC_ERR, NO_COMPLETION);
	must_choose(two_messages, ONE_OF_10, TWO_OF_5, ONE_OF_64, TWO_OF_64);
	must_choose(without_flag, BOTH, ONLY_YOU, ONLY_PEER, NEITHER);

	duo_up(&d);
	struct ibv_mr *mr = open_memory(&d.you, out, LEN);
	struct ibv_mr *theirs = open_memory(&d.peer, in, sizeof in);

	/* Nothing is done for the peer until our completion is here. */
	add_receive(&d.peer, 0, in[0], ROOM, theirs);
	check_answer(asleep, outcome(&d.you, send, out, LEN, mr),
		     "asleep: who answers a message");
	wait_wc(&d.peer);

	for (uint64_t i = 0; i < 2; i++)
		add_receive(&d.peer, i, in[i], ROOM, theirs);
	outcome(&d.you, send, out, LEN, mr);
	outcome(&d.you, send, out, LEN, mr);
	check_answer(two_messages, found_by_peer(),
		     "two_messages: where one message ends");

	struct ibv_sge sge = piece(out, LEN, mr);
	send.sg_list = &sge;
	send.num_sge = 1;
	add_receive(&d.peer, 0, in[0], ROOM, theirs);
	post(&d.you, &send);
	int who = completes_within(&d.peer, A_WHILE, &wc) ? ONLY_PEER : NEITHER;
	if (completes_within(&d.you, A_WHILE, &wc))
		who = who == NEITHER ? ONLY_YOU : BOTH;
	check_answer(without_flag, who, "without_flag: for whom SIGNALED is");
}
