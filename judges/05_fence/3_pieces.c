/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/3_pieces.c - one to four pieces, on a slow wire.
 *
 * before: n = 2: right, but 2 fences: 1 would do
 * hint1: Why does the second READ start only after the first WRITE? For
 * hint1: how many READs can one fence wait?
 * hint1.zh: 为什么第二个 READ 要在第一个 WRITE 之后才开始？一个 fence 能等几
 * hint1.zh: 个 READ？
 * hint2: A fence waits for all READs that stand before it in the list.
 * hint2: Change the order of the requests, then see which one has to
 * hint2: wait.
 * hint2.zh: fence 等链表中排在它前面的所有 READ。先改变请求的顺序，再看哪一个
 * hint2.zh: 必须等。
 */
#include <string.h>

#include "3_pieces.h"

enum { MAX = 4, PIECE = 128, DELAY = 40 };

static struct {
	char source[MAX][PIECE], copy[MAX][PIECE];
} shared;
static char buf[MAX][PIECE];
static struct duo d;
static struct ibv_mr *mine, *theirs;

static void judge_pieces(int n)
{
	struct ibv_send_wr read[MAX], write[MAX];
	struct ibv_sge sge[MAX];

	memset(buf, '~', sizeof buf);
	memset(shared.copy, '?', sizeof shared.copy);
	for (int i = 0; i < MAX; i++) {
		memset(shared.source[i], 'A' + n * MAX + i, PIECE);
		sge[i] = piece(buf[i], PIECE, mine);
		read[i] = request(IBV_WR_RDMA_READ, &sge[i], shared.source[i],
				  theirs);
		write[i] = request(IBV_WR_RDMA_WRITE, &sge[i], shared.copy[i],
				   theirs);
	}
	about("n = %d", n);
	watch(&d.you, &(struct watch){ 0 });
	copy_pieces(&d.you, read, write, n);

	if (seen.found)
		wrong("copy_pieces() waits: its caller will");
	if (seen.posted != 2 * n)
		wrong("%d requests, and not %d", seen.posted, 2 * n);
	if (!seen.last_signaled)
		wrong("the last request is not signaled");
	for (int i = seen.signaled; i > 0; i--)
		expect_completion(&d.you, "the copy");
	for (int i = 0; i < n; i++) {
		if (memcmp(shared.copy[i], shared.source[i], PIECE) == 0)
			continue;
		if (read[i].send_flags & IBV_SEND_FENCE)
			wrong("piece %d: its READ has the fence", i + 1);
		wrong("piece %d: its WRITE did not wait for its READ", i + 1);
	}
	if (seen.fences > 1)
		wrong("right, but %d fences: 1 would do", seen.fences);
	enough(1, 2 * n, 1);
}

void judge(void)
{
	duo_open(&d, (struct ibv_qp_cap){ .max_send_wr = 2 * MAX });
	d.you.timeout = 19; /* a late answer is not lost: see 1_round_trips.c */
	duo_connect(&d, 0, ALL_REMOTE);
	mine = open_memory(&d.you, buf, sizeof buf);
	theirs = open_memory(&d.peer, &shared, sizeof shared);
	late_answers(&d, DELAY);
	for (int n = 1; n <= MAX; n++)
		for (int i = 0; i < 2; i++) /* one may be lucky */
			judge_pieces(n);
}
