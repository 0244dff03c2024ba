/* SPDX-License-Identifier: MIT */
/*
 * judges/01_send_recv/2_post_again.c - texts, and empty messages among them.
 *
 * before: message 1: its slot was posted again before it was delivered
 * hint1: When do the bytes of a slot belong to the NIC, and when to you?
 * hint1: How many receives does a message of 0 bytes use up?
 * hint1.zh: 槽位里的数据什么时候归网卡，什么时候归程序？一条 0 字节的消息消耗几
 * hint1.zh: 个接收请求？
 * hint2: Deliver first, post behind it. And post on every way through the
 * hint2: loop, for an empty message, too.
 * hint2.zh: 先交付，再投递。循环里的每条路径都要投递，空消息也不例外。
 */
#include <string.h>

#include "2_post_again.h"

const char *an_error_ends_it = "12"; /* of several in one look */

enum { MESSAGES = 12, BATCH = 3 };

/* Message m is so many times the same letter. */
static const uint32_t length[] = { 0, 8, 9, 0, 9, 8, 0, 0, 5, 9, 7, 1, 64, 1 };

char slot[SLOTS][SLOT_LEN];

static struct duo d;
static struct ibv_mr *mr;
static bool with_nic[SLOTS];
static int delivered; /* the last message that was */
static uint64_t slot_of[MESSAGES + 1];
static struct ibv_wc came[BATCH];
static int n_came; /* of these you have not polled */

static void found(const struct ibv_wc *wc)
{
	with_nic[wc->wr_id] = false;
	slot_of[seen.found + 1] = wc->wr_id;
}

/* All that has come is in the CQ at once: one call can take it. */
static int poll_came(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	int n = 0;

	(void)cq;
	while (n < max && n_came > 0)
		wc[n++] = came[BATCH - n_came--];
	return n;
}

void post_slot(struct ep *ep, uint64_t i)
{
	if (i >= SLOTS || with_nic[i])
		blame("slot %d is posted, and it is not yours now", (int)i);
	memset(slot[i], '?', SLOT_LEN); /* as the next message might do */
	with_nic[i] = true;
	add_receive(ep, i, slot[i], SLOT_LEN, mr);
}

void deliver(const char *text, uint32_t len)
{
	if (failed) /* it may end behind the others */
		return;
	if (len == 0)
		blame("a message of 0 bytes was delivered");
	do
		delivered++;
	while (length[delivered] == 0);
	about("message %d", delivered);
	uintptr_t from = ((uintptr_t)text - (uintptr_t)slot) / SLOT_LEN;
	if (delivered <= MESSAGES && from < SLOTS && from != slot_of[delivered])
		wrong("it came into slot %d, and you delivered slot %d",
		      (int)slot_of[delivered], (int)from);
	if (text[0] == '?')
		wrong("its slot was posted again before it was delivered");
	if (len != length[delivered])
		wrong("it has %u bytes, and you delivered %u",
		      length[delivered], len);
	for (uint32_t i = 0; i < len; i++)
		if (text[i] != 'a' + delivered)
			wrong("byte %u of it is another one", i);
}

void judge(void)
{
	const struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
					  .send_flags = IBV_SEND_INLINE };
	char text[SLOT_LEN];

	duo_up(&d);
	int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *) =
		d.you.ctx->ops.poll_cq;
	d.you.ctx->ops.poll_cq = poll_came;
	mr = open_memory(&d.you, slot, sizeof slot);
	watch(&d.you, &(struct watch){ .found = found });
	for (uint64_t i = 0; i < SLOTS; i++)
		post_slot(&d.you, i);
	for (int m = 1; m <= MESSAGES; m++) {
		memset(text, 'a' + m, sizeof text);
		outcome(&d.peer, send, text, length[m], NULL);
		if (m % BATCH != 0)
			continue;
		for (int n; n_came < BATCH; n_came += n)
			if ((n = poll_cq(d.you.cq, 1, came + n_came)) < 0)
				die("ibv_poll_cq returned %d", n);
		take_messages(&d.you);
		if (seen.receives < SLOTS + m)
			blame("only %d receives are posted after message %d",
			      seen.receives - m, m);
	}
	if (delivered < MESSAGES)
		blame("message %d was never delivered", delivered + 1);
}
