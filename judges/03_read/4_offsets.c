/* SPDX-License-Identifier: MIT */
/*
 * judges/03_read/4_offsets.c - records that are found by a directory.
 *
 * before: record 0: you returned -1, and it has 700 bytes
 * hint1: How many pieces may the sg_list of one READ have, and in which
 * hint1: order are they filled? What would happen with a length that is
 * hint1: smaller than HEAD?
 * hint1.zh: 一个 READ 的 sg_list 可以有几段，按什么顺序填？长度小于 HEAD 时
 * hint1.zh: 会怎样？
 * hint2: Two struct ibv_sge in an array: head, with HEAD bytes at most,
 * hint2: and body, with what remains. Use only the first if nothing
 * hint2: remains. Turn offset and length with be32toh() before you
 * hint2: compare or subtract.
 * hint2.zh: 用两个 struct ibv_sge 的数组：head 最多 HEAD 字节，body 放剩下
 * hint2.zh: 的。没有剩下的，就只用第一个。偏移和长度先用 be32toh() 转换，再比
 * hint2.zh: 较或相减。
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "4_offsets.h"
#include "lesson.h"
#include "wire.h"

const char *an_error_ends_it = "12";

enum { MEMORY = 72000, N = 9, FITS = HEAD + BODY };
static const struct entry directory[N] = {
	{ .offset = 2000, .len = 700 },
	{ .offset = 96, .len = HEAD },
	{ .offset = 4321, .len = 5 },
	{ .offset = 70000, .len = FITS },
	{ .offset = 3000, .len = FITS + 1 },
	{ .offset = 5967, .len = HEAD + 1 },
	/* below 0, if somebody takes it for an int */
	{ .offset = 96, .len = 0xfffffff0 },
	/* 700, if somebody keeps 16 bits */
	{ .offset = 2000, .len = (1 << 16) + 700 },
	{ .offset = 96, .len = 0 },
};

/* The place within a page must be the same for both ways to say it. */
static _Alignas(4096) char data[MEMORY];
static struct place mine, right;
static int record;

static void posts(const struct ibv_send_wr *wr)
{
	uint32_t at = directory[record].offset, len = directory[record].len;
	unsigned long long asked = 0, from = wr->wr.rdma.remote_addr;

	for (int i = 0; i < wr->num_sge; i++)
		asked += wr->sg_list[i].length;
	if (seen.posted == 0) /* for the entry */
		return;
	if (len > FITS)
		wrong("it has %u bytes, too many, and you READ it", len);
	if (from != at)
		wrong("it is at offset %u, and you READ at %llu", at, from);
	if (asked != len)
		wrong("it has %u bytes, and you ask for %llu", len, asked);
}

/* What must be there after record i was fetched. */
static void make_right(int i)
{
	const char *from = data + directory[i].offset;
	size_t len = directory[i].len, in_head = len < HEAD ? len : HEAD;

	memset(&right, '?', sizeof right);
	memcpy(&right.entry, data + i * sizeof right.entry, sizeof right.entry);
	if (len > FITS)
		return;
	memcpy(right.head, from, in_head);
	memcpy(right.body, from + in_head, len - in_head);
}

void judge(void)
{
	static const struct watch eyes = { .posts = posts };
	struct duo d;

	duo_up(&d);
	/* In the lab nothing is here before its completion. */
	(void)wire_slow(&d.peer, 20);
	for (int k = 0; k < MEMORY; k++)
		data[k] = byte_at(k);
	for (int i = 0; i < N; i++) {
		struct entry e = { .offset = htobe32(directory[i].offset),
				   .len = htobe32(directory[i].len) };
		memcpy(data + i * sizeof e, &e, sizeof e);
	}
	struct ibv_mr *from = ibv_reg_mr_iova(d.peer.pd, data, MEMORY, 0,
					      IBV_ACCESS_REMOTE_READ);
	if (!from)
		die_err(errno, "ibv_reg_mr_iova");
	struct ibv_mr *to = open_memory(&d.you, &mine, sizeof mine);

	for (record = 0; record < N; record++) {
		uint32_t len = directory[record].len;
		int right_is = len > FITS ? -1 : (int)len;

		about("record %d", record);
		make_right(record);
		memset(&mine, '?', sizeof mine);
		watch(&d.you, &eyes);
		int is = fetch_record(&d.you, &mine, to->lkey, from->rkey,
				      record);
		if (seen.found < seen.posted)
			wrong("you returned, and a READ may not be complete");
		if (is != right_is)
			wrong("you returned %d, and it has %u bytes%s", is, len,
			      len > FITS ? ", too many" : "");
		right.entry = mine.entry; /* you may have turned it round */
		if (memcmp(&mine, &right, sizeof right) != 0)
			wrong("the bytes are not where they belong");
		enough(2, 2, 2);
	}
}
