/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/4_log.c - a log to which others append at the bad moment.
 *
 * before: entry 1: right, but 3 completions: 2 would do
 * hint1: Which fields of the two WRITEs depend on the old value? Who
 * hint1: fills these fields, and when? And what does the matrix of the
 * hint1: lesson say of WRITE after WRITE?
 * hint1.zh: 两个 WRITE 的哪些字段取决于旧值？这些字段由谁填，什么时候填？关于
 * hint1.zh: WRITE 后面的 WRITE，本课的矩阵怎么说？
 * hint2: One round trip is too few: a fence holds a request back, but does
 * hint2: not change its address. So one of the three must complete before the
 * hint2: others can be posted. These keep their order if they are in one list.
 * hint2.zh: 一次往返不够：fence 让请求等待，但不改它的地址。所以三个请求中，有一
 * hint2.zh: 个必须先完成，其余的才能投递。其余的放在一条链表里，顺序就不会变。
 */
#include <string.h>

#include "4_log.h"
#include "wire.h"

const char *an_error_ends_it = "1u"; /* of the atomic, of the WRITEs */

static struct log log_over_there;
static struct writer writer;
static struct entry *place; /* of our entry */
static int number;          /* from 0; so many others come before it */

static void judge_request(const struct ibv_send_wr *wr)
{
	bool fence = wr->send_flags & IBV_SEND_FENCE;
	size_t len = 0;

	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		if (fence)
			wrong("a fence on the atomic: for what does it wait?");
		log_over_there.counter += (uint64_t)number;
		place = &log_over_there.entry[log_over_there.counter % PLACES];
		return;
	}
	if (!seen.found && fence)
		wrong("no old value yet: a fence does not change the address");
	if (!seen.found)
		wrong("no completion of the atomic yet: the address of the "
		      "WRITE is a guess");
	if (fence)
		wrong("a fence on a WRITE: for what does it wait?");
	if (wr->wr.rdma.remote_addr == (uintptr_t)&place->valid &&
	    seen.posted < 2)
		wrong("valid is written before the text");
	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (seen.posted < 2 && wr->wr.rdma.remote_addr == (uintptr_t)place &&
	    len == sizeof *place && (wr->num_sge > 1 || writer.entry.valid))
		wrong("text and valid in one WRITE, whose bytes have no order");
}

static void judge_entry(void)
{
	about("entry %d", number + 1);
	memset(writer.entry.text, 'A' + number, sizeof writer.entry.text);
	writer.entry.text[1] = 0; /* bytes, and no string */
	writer.entry.valid = 0;
	writer.one = 1;
	watch(writer.ep, &(struct watch){ .posts = judge_request });
	uint64_t at = append(&writer);

	if (seen.found < 2 || !seen.last_signaled)
		wrong("append() returns before its last WRITE has completed");
	if (memcmp(place->text, writer.entry.text, sizeof place->text) != 0 ||
	    place->valid != 1)
		wrong("the entry is not at its place");
	if (at != log_over_there.counter - 1)
		wrong("append() does not return the place");
	if (seen.posted < 3)
		wrong("text and valid in one WRITE, whose bytes have no order");
	enough(3, 3, 2); /* the lists are free */
}

void judge(void)
{
	struct duo d;

	duo_up(&d);
	/* In the lab nothing is here before its completion. */
	(void)wire_slow(&d.peer, 20);
	memset(log_over_there.entry, '?', sizeof log_over_there.entry);
	writer.ep = &d.you;
	writer.log = (uintptr_t)&log_over_there;
	writer.rkey =
		open_memory(&d.peer, &log_over_there, sizeof log_over_there)
			->rkey;
	writer.lkey = open_memory(&d.you, &writer, sizeof writer)->lkey;
	for (number = 0; number < 3; number++)
		judge_entry();
}
