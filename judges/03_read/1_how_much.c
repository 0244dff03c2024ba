/* SPDX-License-Identifier: MIT */
/*
 * judges/03_read/1_how_much.c - READs of too little and of too much.
 *
 * before: no_byte is UNANSWERED: choose one, then run it
 * hint1: When does the peer's NIC look at the rkey: for each packet that
 * hint1: it sends, or once for each request?
 * hint1.zh: 对端网卡什么时候检查 rkey：每发一个报文都检查，还是每个请求检
 * hint1.zh: 查一次？
 * hint2: A READ is one packet of request. It names the whole range, so
 * hint2: the NIC can check all of it before it answers. A range without a
 * hint2: byte has nothing to check. And what happens to the requests
 * hint2: behind one that failed, signaled or not?
 * hint2.zh: 一个 READ 只有一个请求报文，里面写明整个范围。所以网卡可以全部检查
 * hint2.zh: 完，再响应。范围里一个字节也没有，就没有什么可检查。一个请求失败
 * hint2.zh: 了，排在后面的会怎样？signaled 与否，有区别吗？
 * gives away: READ of 0 bytes
 * gives away: range without a byte
 * gives away: checked before it answers
 */
#include "1_how_much.h"
#include "lesson.h"

static char data[DATA], buf[DATA] = "?";

void judge(void)
{
	struct duo d;
	struct ibv_wc wc;

	must_choose_status(no_byte);
	must_choose(one_too_many, NONE, FIRST_PACKET, ALL_BUT_ONE, ALL);
	must_choose_status(behind_it);
	duo_up(&d);
	struct ibv_mr *from = open_memory(&d.peer, data, DATA);
	struct ibv_mr *to = open_memory(&d.you, buf, DATA);
	struct ibv_sge into = piece(buf, DATA, to);
	struct ibv_send_wr behind =
		request(IBV_WR_RDMA_READ, &into, data, from);
	struct ibv_send_wr read = behind;

	read.wr.rdma.rkey = 0;
	check_answer(no_byte, outcome(&d.you, read, NULL, 0, NULL),
		     "no_byte: which bytes would the region have to cover?");
	read = request(IBV_WR_RDMA_READ, &into, data + 1, from);
	read.send_flags = IBV_SEND_SIGNALED;
	read.next = &behind;
	post(&d.you, &read);
	wait_wc(&d.you);
	bool completes = completes_within(&d.you, 2000, &wc);

	check_answer(one_too_many, *buf == '?' ? NONE : ALL,
		     "one_too_many: what does one packet of request name?");
	check_answer(behind_it, completes ? (int)wc.status : NO_COMPLETION,
		     "behind_it: in which state is a QP after an error?");
}
