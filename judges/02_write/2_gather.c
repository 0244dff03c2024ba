/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/2_gather.c - lists of pieces, with gaps and without.
 *
 * before: call 2: byte 7 over there is in no piece, and it changed
 * hint1: How many remote addresses does one request have? What happens
 * hint1: behind the first piece, if the second piece belongs somewhere
 * hint1: else?
 * hint1.zh: 一个请求有几个远端地址？如果第二段要放到别处，第一段之后会怎样？
 * hint2: Begin a new request where p[i].to is not the end of piece i - 1,
 * hint2: or where the request has SGES pieces already. Link the requests;
 * hint2: only the last is SIGNALED.
 * hint2.zh: p[i].to 不是第 i - 1 段的末尾，或者请求已经有 SGES 段，就开始一个新
 * hint2.zh: 请求。把请求连成链表；只有最后一个是 SIGNALED。
 */
#include "2_gather.h"
#include "writes.h"

const char *an_error_ends_it = "1";

enum { CALLS = 8, GAP = 1 };

/* n pieces. In front of which is a gap here, and over there: a bit each. */
static const struct {
	int n, here, there, requests;
} l[CALLS] = {
	{ .n = 3, .here = 0, .there = 0, .requests = 1 },
	{ .n = 3, .here = 0, .there = 6, .requests = 3 },
	{ .n = 6, .here = 62, .there = 0, .requests = 2 },
	{ .n = 4, .here = 8, .there = 4, .requests = 2 },
	{ .n = 6, .here = 0, .there = 4, .requests = 2 },
	{ .n = 8, .here = 0, .there = 254, .requests = 8 },
	{ .n = 8, .here = 0, .there = 0, .requests = 2 },
	{ .n = 1, .here = 0, .there = 0, .requests = 1 },
};

static void posts(const struct ibv_send_wr *wr)
{
	if (wr->num_sge > SGES)
		wrong("%d pieces in a request: the QP takes 4", wr->num_sge);
}

void judge(void)
{
	struct piece p[PIECES];
	char want[MEMORY];

	open_both();
	for (int k = 0; k < MEMORY; k++)
		own[k] = (char)(128 + k % 97); /* never '.' */
	for (int n = 0; n < CALLS; n++) {
		int here = 0, there = 0;

		about("call %d", n + 1);
		watch(&d.you, &(struct watch){ .posts = posts,
					       .looks = looks,
					       .lets_find = patient_look });
		memset(theirs, '.', MEMORY);
		memset(want, '.', MEMORY);
		for (int i = 0; i < l[n].n; i++) {
			/* One is too long for INLINE. */
			int size = n == 0 && i == 2 ? 1024 : 7 + i;
			uint32_t len = (uint32_t)size;

			here += (l[n].here >> i & 1) * GAP;
			there += (l[n].there >> i & 1) * GAP;
			p[i] = (struct piece){ .from = own + here,
					       .len = len,
					       .to = (uintptr_t)(theirs +
								 there) };
			memcpy(want + there, own + here, len);
			here += size;
			there += size;
		}
		write_pieces(&d.you, p, l[n].n, from->lkey, to->rkey);
		returned();
		if (!seen.last_signaled)
			wrong("nothing says when all is done");
		for (int k = 0; k < MEMORY; k++)
			if (theirs[k] != want[k])
				wrong("byte %d over there %s", k,
				      want[k] == '.'
					      ? "is in no piece, and it changed"
					      : "is wrong");
		enough(l[n].requests, l[n].requests, 1);
	}
}
