/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/4_inline.c - records whose memory is gone after the call.
 *
 * before: record 1: a record that fits INLINE needs no completion
 * hint1: When does the NIC read the bytes of an INLINE request? Who reads
 * hint1: them, and with which lkey?
 * hint1.zh: 网卡什么时候读 INLINE 请求的数据？读数据的是谁，用哪个 lkey？
 * hint2: Two cases. Short: the SGE points to the record itself, the only
 * hint2: flag is INLINE, and nothing is waited for. Long: as it is now.
 * hint2.zh: 分两种情况。短记录：SGE 直接指向记录，标志只有 INLINE，什么也不等。
 * hint2.zh: 长记录：照现在的做法。
 */
#include "4_inline.h"
#include "writes.h"

const char *an_error_ends_it = "1";

char staging[LONGEST];
uint32_t staging_lkey;

static bool fits;
static char record[LONGEST];

static void posts(const struct ibv_send_wr *wr)
{
	bool copied = wr->send_flags & IBV_SEND_INLINE;
	bool staged = wr->sg_list[0].addr == (uintptr_t)staging;

	if (copied && !fits)
		wrong("it is too long for INLINE");
	if (copied && wr->sg_list[0].addr != (uintptr_t)record)
		wrong("you copied what the post copies anyway");
	if (!copied && !staged)
		wrong("the record may be gone when the NIC reads it");
	if (!copied && *staging != *record)
		wrong("the record must be in staging when you post");
	if (!copied && !(wr->send_flags & IBV_SEND_SIGNALED))
		wrong("nothing will say when staging may be used again");
}

void judge(void)
{
	/* A number that nobody guesses. */
	struct ibv_qp_cap cap = { .max_send_wr = 16, .max_inline_data = 83 };

	duo_open(&d, cap);
	duo_connect(&d, ALL_REMOTE, ALL_REMOTE);
	open_regions();
	uint32_t fit = d.you.cap.max_inline_data;
	const uint32_t len[] = { 32, 8, fit, fit + 1, 1, LONGEST };
	struct ibv_send_wr last = request(IBV_WR_RDMA_WRITE, NULL, theirs, to);

	staging_lkey = open_memory(&d.you, staging, LONGEST)->lkey;
	for (int i = 0; i < 6; i++) {
		about("record %d", i + 1);
		fits = len[i] <= fit;
		memset(theirs, '.', MEMORY);
		memset(record, 'A' + i, LONGEST);
		memset(staging, '!', LONGEST);
		watch(&d.you, &(struct watch){ .posts = posts,
					       .looks = looks,
					       .lets_find = patient_look });
		put(&d.you, record, len[i],
		    (struct place){ .addr = (uintptr_t)theirs,
				    .rkey = to->rkey });
		memset(record, '?', LONGEST);
		returned();
		if (fits && seen.signaled > 0)
			wrong("a record that fits INLINE needs no completion");
		if (fits && staging[0] != '!')
			wrong("you copied what the post copies anyway");
		if (!fits && len[i] < LONGEST && staging[len[i]] != '!')
			wrong("it has %u bytes, and you copied more", len[i]);
		watch(&d.you, NULL);
		outcome(&d.you, last, NULL, 0, NULL); /* the WRITE is done */
		for (uint32_t k = 0; k < MEMORY; k++)
			if (theirs[k] != (k < len[i] ? 'A' + i : '.'))
				wrong("byte %u over there is wrong", k);
	}
}
