/* SPDX-License-Identifier: MIT */
/* drivers/02_write/2_gather.c - lists of pieces, with gaps and without. */
#include "2_gather.h"
#include "writes.h"

enum { LISTS = 4, LEN = 9 };

/* n pieces. In front of which is a gap here, and over there: a bit each. */
static const struct {
	int n, here, there, requests;
} l[LISTS] = {
	{ 3, 0, 0, 1 }, { 3, 0, 6, 3 }, { 6, 62, 0, 2 }, { 4, 8, 4, 2 }
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
	for (int n = 0; n < LISTS; n++) {
		int here = -LEN, there = -LEN;

		about("list %d", n + 1);
		watch(&d.you,
		      &(struct watch){ .posts = posts, .looks = looks });
		memset(theirs, '.', MEMORY);
		memset(want, '.', MEMORY);
		for (int i = 0; i < l[n].n; i++) {
			here += (1 + (l[n].here >> i & 1)) * LEN;
			there += (1 + (l[n].there >> i & 1)) * LEN;
			p[i] = (struct piece){ own + here, LEN,
					       (uintptr_t)(theirs + there) };
			memcpy(want + there, own + here, LEN);
		}
		write_pieces(&d.you, p, l[n].n, from->lkey, to->rkey);
		returned();
		if (!seen.last_signaled)
			wrong("nothing says when it is done");
		for (int k = 0; k < MEMORY; k++)
			if (theirs[k] != want[k])
				wrong("byte %d over there %s", k,
				      want[k] == '.'
					      ? "is in no piece, and it changed"
					      : "is wrong");
		enough(l[n].requests, l[n].requests, 1);
	}
}
