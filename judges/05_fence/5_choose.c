/* SPDX-License-Identifier: MIT */
/*
 * judges/05_fence/5_choose.c - three pairs of requests, at a bad moment.
 *
 * before: publish is UNANSWERED: choose one, then run it
 * hint1: What does the second request need from the first: a place behind
 * hint1: it in the queue, or its answer? And who needs the answer: the NIC, or
 * hint1: whoever fills in the request?
 * hint1.zh: 第二个请求需要第一个的什么：排在它后面，还是它的结果？需要结果的是
 * hint1.zh: 谁：网卡，还是填写请求的程序？
 * hint2: The matrix of the lesson says which pairs need a fence. A fence
 * hint2: waits for all earlier READs of its queue, also for those that do
 * hint2: not matter.
 * hint2.zh: 本课的矩阵说明哪些组合需要 fence。fence 等本队列中前面的所有 READ，
 * hint2.zh: 无关的也等。
 */
#include "5_choose.h"
#include "wire.h"

/* ms: late answers; lost answers; the wait for what cannot come. */
enum { DELAY = 100, LOST = 60000, NEVER = 2000, TRIES = 5, OLD = 1, NEW };

static const char *const names[] = { "AT_ONCE", "FENCE_FIRST", "FENCE_SECOND",
				     "COMPLETION" };
static struct {
	uint64_t got, word; /* for a READ, for a WRITE */
} mine;
static struct {
	uint64_t data, flag, record, pointer, early;
} theirs;
static struct ibv_sge got, word;
static struct ibv_mr *to;
static struct duo d;

/* Posts both. A fence on a READ is left out: it would wait for nothing here, and
 * rxe would never repeat that READ (docs/rxe.md). */
static void post_both(struct ibv_send_wr first, struct ibv_send_wr then,
		      int how)
{
	if (how == FENCE_FIRST && first.opcode != IBV_WR_RDMA_READ)
		first.send_flags = IBV_SEND_FENCE;
	if (how == FENCE_SECOND)
		then.send_flags = IBV_SEND_FENCE;
	then.send_flags |= IBV_SEND_SIGNALED;
	if (how == COMPLETION)
		execute(&d.you, first);
	else
		post(&d.you, &first);
	post(&d.you, &then);
}

/* Is the flag there before the completion of a READ of something else? */
static void try_publish(int how)
{
	struct ibv_send_wr read, data, flag;
	struct ibv_wc wc;
	bool early = false;

	read = request(IBV_WR_RDMA_READ, &got, &theirs.record, to);
	if (how != COMPLETION) /* that takes the next one */
		read.send_flags = IBV_SEND_SIGNALED;
	data = request(IBV_WR_RDMA_WRITE, &word, &theirs.data, to);
	flag = request(IBV_WR_RDMA_WRITE, &word, &theirs.flag, to);
	about("publish, %s", names[how]);
	mine.word = NEW;
	for (int i = 0; i < TRIES && !early; i++) {
		theirs.flag = OLD;
		post(&d.you, &read);
		post_both(data, flag, how);
		for (double since = now_ms(); theirs.flag != NEW;)
			keep_waiting(&d.you, since, "the flag");
		early = how != COMPLETION && !completes_within(&d.you, 0, &wc);
		if (early)
			expect_completion(&d.you, "the READ");
		expect_completion(&d.you, "the flag");
	}
	if (!early)
		wrong("right, but the flag waited for a READ of something "
		      "else");
}

/* The pointer leads to the record. Before the READ's answer, mine.got leads to
 * something else, as it would after an earlier READ. */
static void try_follow(int how)
{
	struct ibv_send_wr read, write;

	about("follow, %s", names[how]);
	theirs.pointer = (uintptr_t)&theirs.record;
	theirs.record = OLD;
	mine.got = (uintptr_t)&theirs.early;
	mine.word = NEW;
	read = request(IBV_WR_RDMA_READ, &got, &theirs.pointer, to);
	write = request(IBV_WR_RDMA_WRITE, &word, NULL, to);
	if (how == COMPLETION)
		execute(&d.you, read);
	write.wr.rdma.remote_addr = mine.got;
	if (how == COMPLETION) {
		execute(&d.you, write);
	} else {
		post_both(read, write, how);
		expect_completion(&d.you, "the WRITE");
	}
	if (theirs.record != NEW)
		wrong("the WRITE went to the address that was there before");
}

/* The READ's answer is lost, so the READ is repeated. */
static void try_release(int how)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }; /* of nothing */
	struct ibv_wc wc;

	about("release, %s", names[how]);
	if (how == COMPLETION)
		wrong("right, but the SEND waited for your CPU");
	theirs.record = OLD;
	late_answers(&d, LOST);
	add_receive(&d.peer, 0, NULL, 0, NULL);
	post_both(request(IBV_WR_RDMA_READ, &got, &theirs.record, to), send,
		  how);
	/* The message comes now, or is held back until the READ is done. */
	if (completes_within(&d.peer, how == FENCE_SECOND ? 100 : NEVER, &wc))
		theirs.record = NEW;
	wire_free(); /* and what is late is thrown away */
	expect_completion(&d.you, "the SEND");
	if (mine.got != OLD)
		wrong("an answer was lost, and the READ brought the new "
		      "record");
}

void judge(void)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 4 };

	duo_open(&d, cap);
	must_choose(publish, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	must_choose(release, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	must_choose(follow, AT_ONCE, FENCE_FIRST, FENCE_SECOND, COMPLETION);
	d.you.retry_cnt = 7; /* for a busy machine */
	duo_connect(&d, 0, ALL_REMOTE);
	struct ibv_mr *from = open_memory(&d.you, &mine, sizeof mine);
	got = piece(&mine.got, 8, from);
	word = piece(&mine.word, 8, from);
	to = open_memory(&d.peer, &theirs, sizeof theirs);
	late_answers(&d, DELAY);
	try_publish(publish);
	try_follow(follow);
	try_release(release);
}
