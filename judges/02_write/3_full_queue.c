/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/3_full_queue.c - counts places in the queue as a NIC does.
 *
 * before: n = 17: WRITE 17 is posted, and the queue is full
 * hint1: How many places does one polled completion set free? Which
 * hint1: request must make that completion, so that all 16 are free at
 * hint1: once?
 * hint1.zh: 取出一条 CQE，能空出几个位置？要一次空出全部 16 个，这条 CQE 必须由
 * hint1.zh: 哪个请求产生？
 * hint2: Signal the 16th, the 32nd and so on, and the very last one. Wait
 * hint2: for each of these before you post the next request.
 * hint2.zh: 第 16 个、第 32 个……以及最后一个请求，设为 SIGNALED。每次都等到它的
 * hint2.zh: CQE，再投递下一个请求。
 */
#include "3_full_queue.h"
#include "writes.h"

const char *an_error_ends_it = "13";

enum { MOST = 100 };

static int done;        /* WRITEs of this turn, counted from 1 */
static int asked[MOST]; /* for the completions of these */

/* Each WRITE goes to another byte: its wr_id may be the exercise's own. */
static void posts(const struct ibv_send_wr *wr)
{
	int n = seen.posted + 1;
	int is = (int)(wr->wr.rdma.remote_addr - (uintptr_t)theirs);

	if (is != n)
		wrong("WRITE %d is posted, not WRITE %d", is, n);
	if (n > done + PLACES)
		wrong("WRITE %d is posted, and the queue is full", n);
	asked[seen.signaled] = n; /* or the next one, if not SIGNALED */
}

static void found(const struct ibv_wc *wc)
{
	(void)wc;
	done = asked[seen.found];
}

void judge(void)
{
	static const int turns[] = { 1, PLACES, PLACES + 1, MOST };
	struct ibv_send_wr wr[MOST];

	open_both();
	struct ibv_sge sge = piece(own, 100, from); /* too long for INLINE */
	for (int t = 0; t < 4; t++) {
		int n = turns[t];

		for (int i = 0; i < n; i++) {
			wr[i] = request(IBV_WR_RDMA_WRITE, &sge, theirs + i + 1,
					to);
			wr[i].send_flags = IBV_SEND_SIGNALED; /* yet unset */
		}
		about("n = %d", n);
		done = 0;
		watch(&d.you, &(struct watch){ .posts = posts,
					       .looks = looks,
					       .lets_find = patient_look,
					       .found = found });
		write_all(&d.you, wr, n);
		returned();
		if (done < n)
			wrong("it returned, and WRITE %d may not be done", n);
		enough(n, n, (n + PLACES - 1) / PLACES);
	}
}
