/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/2_publish.c - three WRITEs, and which flags they have.
 *
 * before: request 1: it does not go where the length is
 * hint1: When does the NIC fetch the bytes of a WRITE? Which of the three
 * hint1: are still there at that time? And for which kinds of request
 * hint1: does a fence wait?
 * hint1.zh: 网卡什么时候取 WRITE 的数据？到那时，三份数据中哪些还在？fence 又等
 * hint1.zh: 哪几种请求？
 * hint2: Bytes that are INLINE are copied by ibv_post_send. Requests of
 * hint2: one queue pair complete in order, so the completion of the last
 * hint2: one speaks for all.
 * hint2.zh: INLINE 的数据由 ibv_post_send 复制。同一个 QP 的请求按序完成，所以
 * hint2.zh: 最后一个的 CQE 代表全部。
 */
#include <string.h>

#include "2_publish.h"

static char text[LEN];
static struct box box;

static void judge_request(const struct ibv_send_wr *wr)
{
	static const void *const places[] = { &box.length, box.text,
					      &box.ready };
	static const char *const names[] = { "length", "text", "ready word" };
	bool inlined = wr->send_flags & IBV_SEND_INLINE;
	uint64_t to = wr->wr.rdma.remote_addr;

	about("request %d", seen.posted + 1);
	if (seen.posted > 2)
		wrong("three are enough");
	if (wr->num_sge < 1 || !wr->sg_list)
		wrong("it has no bytes: look at sg_list and num_sge");
	uint64_t from = wr->sg_list->addr;

	if (to != (uintptr_t)places[seen.posted])
		wrong("it does not go where the %s is", names[seen.posted]);
	if (inlined && wr->sg_list->length > 64)
		wrong("%d bytes, and only 64 may be INLINE", LEN);
	if (!inlined && from != (uintptr_t)text)
		wrong("its bytes are in no region: the NIC cannot fetch them, "
		      "unless they are INLINE");
	if (wr->send_flags & IBV_SEND_FENCE)
		wrong("a fence: for which READ or atomic does it wait?");
	if (wr->send_flags & ~(IBV_SEND_INLINE | IBV_SEND_SIGNALED))
		wrong("a flag that it does not need");
}

static void judge_box(struct ep *ep, const struct post_office *p,
		      uint64_t length)
{
	memset(text, length % 2 ? 'a' : 'b', LEN);
	text[LEN / 2] = 0; /* bytes, and no string */
	memset(&box, '?', sizeof box);
	watch(ep, &(struct watch){ .posts = judge_request });
	publish(p, length);
	about("publish(%d)", (int)length);
	if (seen.posted < 3)
		wrong("%d requests, and not 3", seen.posted);
	if (seen.found)
		wrong("it waits: its caller will");
	if (!seen.last_signaled)
		wrong("nobody learns that the last request is done");
	for (int n = seen.signaled; n > 0; n--)
		expect_completion(ep, "a WRITE");
	if (box.length != length || box.ready != 1 ||
	    memcmp(box.text, text, LEN) != 0)
		wrong("what is in the box is not what was published");
	enough(1, 3, 1);
}

void judge(void)
{
	struct duo d;

	duo_up(&d);
	struct post_office p = {
		.ep = &d.you,
		.box = (uintptr_t)&box,
		.rkey = open_memory(&d.peer, &box, sizeof box)->rkey,
		.text = text,
		.lkey = open_memory(&d.you, text, LEN)->lkey,
	};

	judge_box(&d.you, &p, 300);
	judge_box(&d.you, &p, 301);
}
