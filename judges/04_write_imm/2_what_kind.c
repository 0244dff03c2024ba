/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/2_what_kind.c - which receives are taken, and for what.
 *
 * before: receives_used is UNANSWERED: choose one, then run it
 * hint1: What is a receive for the program that posts it: a buffer, a
 * hint1: notification, or both? Which of the requests notify, and which
 * hint1: of them bring something for the buffer?
 * hint1.zh: 程序投递接收请求，是要缓冲区，要通知，还是两者都要？这些请求中，哪
 * hint1.zh: 些带来通知，哪些带来要放进缓冲区的数据？
 * hint2: One message that notifies takes one receive, however many
 * hint2: packets it has, and even if it has no data. byte_len is the
 * hint2: length of the message that took it. Where does the data of a
 * hint2: WRITE_WITH_IMM go?
 * hint2.zh: 一条带来通知的消息消耗一个接收请求，不管它有几个报文，哪怕没有
 * hint2.zh: 数据。byte_len 是消耗它的那条消息的长度。WRITE_WITH_IMM 的数据
 * hint2.zh: 放到哪里？
 * gives away: length of the message that took
 * gives away: buffer cannot be too small
 * gives away: takes one receive, however long
 */
#include "2_what_kind.h"

enum { LONG = 5000, CHUNK = 4200, SMALL = 100 };

static char out[LONG], in[LONG];

static struct duo d;
static struct ibv_mr *from, *to;

/* From you to the peer. */
static void send(enum ibv_wr_opcode opcode, size_t len)
{
	if (outcome(&d.you, request(opcode, NULL, in, to), out, len, from))
		die("a request failed");
}

void judge(void)
{
	struct ibv_wc wc;
	int n = 0;

	must_choose(receives_used, ONE, TWO, THREE, FOUR, MORE);
	must_choose(length_told, 0, 10, SMALL, CHUNK, CHUNK + 10);
	must_choose_status(too_small);
	duo_up(&d);
	from = open_memory(&d.you, out, LONG);
	to = open_memory(&d.peer, in, LONG);

	add_receive(&d.peer, 0, in, SMALL, to);
	send(IBV_WR_RDMA_WRITE, CHUNK);
	send(IBV_WR_SEND_WITH_IMM, 10);
	check_answer(length_told, (int)wait_wc(&d.peer).byte_len,
		     "length_told: which of the two took the receive?");
	add_receive(&d.peer, 0, in, 1, to);
	send(IBV_WR_RDMA_WRITE_WITH_IMM, CHUNK);
	check_answer(too_small, (int)wait_wc(&d.peer).status,
		     "too_small: which bytes have to go into that buffer?");
	for (int i = 0; i < 16; i++)
		add_receive(&d.peer, 0, NULL, 0, NULL);
	send(IBV_WR_RDMA_WRITE, LONG);
	send(IBV_WR_SEND, 0);
	send(IBV_WR_RDMA_WRITE_WITH_IMM, LONG);
	send(IBV_WR_RDMA_WRITE_WITH_IMM, 0);
	while (completes_within(&d.peer, 100, &wc))
		n++;
	check_answer(
		receives_used, n,
		"receives_used: which of the four makes a completion there?");
}
