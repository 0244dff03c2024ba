/* SPDX-License-Identifier: MIT */
/*
 * judges/03_read/5_status.c - a host that writes blocks to a disk.
 *
 * before: command 0: a status before its READ is complete
 * hint1: Two READs are complete. How do you know which commands they
 * hint1: belong to? And what is the next completion in your queue: the
 * hint1: completion of a READ, or of a SEND?
 * hint1.zh: 两个 READ 都完成了，怎么知道它们各属于哪条命令？队列里的下一条
 * hint1.zh: CQE，是 READ 的，还是 SEND 的？
 * hint2: Three steps: post the READs, or the status TOO_LONG. Then, as
 * hint2: often as there are READs: expect_completion() returns the wr_id,
 * hint2: which read_block() made the number of the command. A SEND that
 * hint2: is not SIGNALED leaves no completion that could be taken for
 * hint2: another.
 * hint2.zh: 分三步。先投递 READ，或者投递状态 TOO_LONG。然后，有几个 READ 就做
 * hint2.zh: 几次：expect_completion() 返回 wr_id，也就是 read_block() 填进去的
 * hint2.zh: 命令编号。SEND 不设 SIGNALED，就不会留下一条会被认错的 CQE。
 */
#include <string.h>

#include "5_status.h"
#include "wire.h"

const char *an_error_ends_it = "14";

enum { N = 6, FIRST_TAG = 1000 };

/* The result that each command must get. */
static const int expected[N] = {
	GOOD, TOO_LONG, GOOD, BAD_SUM, GOOD, TOO_LONG
};
static const char *const names[] = { "GOOD", "BAD_SUM", "TOO_LONG" };

static char blocks[N][ROOM + 1], room[N * ROOM];
static struct command c[N + 1]; /* behind the last: none */
static int n;                   /* commands in this call */
static int reads, completed;
static int order[N]; /* command of the i-th READ */
static enum { TO_READ, POSTED, COMPLETE, NO_READ, SENT } state[N];

static uint32_t sum_of(const char *p, uint32_t len)
{
	uint32_t sum = len;

	while (len--)
		sum = sum * 31 + (unsigned char)*p++;
	return sum;
}

uint32_t checksum(const char *p, uint32_t len)
{
	/* Here the host's memory is in this program, too. */
	if (p < room || p + len > room + sizeof room) {
		about("%s", "");
		wrong("checksum() of bytes that are not in room");
	}
	return sum_of(p, len);
}

static void posts_read(int i, const char *to, uint32_t len)
{
	if (state[i] == NO_READ)
		wrong("it is too long, and you READ it");
	if (state[i] != TO_READ)
		wrong("a second READ");
	if (to != room + i * ROOM)
		wrong("its READ does not go to room + %d * ROOM", i);
	if (len != c[i].len)
		wrong("its block has %u bytes, and you READ %u", c[i].len, len);
	state[i] = POSTED;
	order[reads++] = i;
}

static void posts_status(int i, int result)
{
	if (state[i] == SENT)
		wrong("a second status");
	if (result == TOO_LONG && expected[i] != TOO_LONG)
		wrong("its %u bytes fit, and you say TOO_LONG", c[i].len);
	if (state[i] < COMPLETE)
		wrong("a status before its READ is complete");
	if (result != expected[i])
		wrong("its result must be %s", names[expected[i]]);
	state[i] = SENT;
}

static void posts(const struct ibv_send_wr *wr)
{
	const char *at = (const char *)(uintptr_t)wr->sg_list->addr;
	bool is_read = wr->opcode == IBV_WR_RDMA_READ;
	struct status status;

	if (!is_read)
		memcpy(&status, at, sizeof status);
	/* Whose block is READ? It may go to a wrong place. */
	uint64_t i = is_read ? (wr->wr.rdma.remote_addr - (uintptr_t)blocks) /
				       sizeof blocks[0]
			     : status.tag - FIRST_TAG;

	about("%s", "");
	if (i >= (uint64_t)n) {
		if (is_read)
			wrong("there is no command for what you READ");
		wrong("a status with tag %u, and no command has it",
		      status.tag);
	}
	about("command %d", (int)i);
	if (is_read)
		posts_read((int)i, at, wr->sg_list->length);
	else if (wr->send_flags & IBV_SEND_INLINE)
		posts_status((int)i, (int)status.result);
	else
		wrong("a SEND without IBV_SEND_INLINE");
}

static void looks(void)
{
	for (int i = 0; i < n; i++) {
		about("command %d", i);
		if (state[i] == TO_READ)
			wrong("you wait before you post its READ");
		if (state[i] == COMPLETE && second_look() && !failed)
			wrong("you wait before you send its status");
	}
	about("%s", "");
	if (seen.found == seen.signaled && seen.in_vain > A_WAIT)
		wrong("you wait for a completion, and none will come");
}

static void found(const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RDMA_READ)
		state[order[completed++]] = COMPLETE;
}

static void make_command(int i, uint32_t rkey)
{
	int len = expected[i] == TOO_LONG ? ROOM + 1 : ROOM - 300 * i;

	memset(blocks[i], 'a' + i, (size_t)len);
	c[i] = (struct command){
		.addr = (uintptr_t)blocks[i],
		.rkey = rkey,
		.len = (uint32_t)len,
		.sum = sum_of(blocks[i], (uint32_t)len),
		.tag = (uint32_t)(FIRST_TAG + i),
	};
	c[i].sum += expected[i] == BAD_SUM;
	state[i] = expected[i] == TOO_LONG ? NO_READ : TO_READ;
}

void judge(void)
{
	static const struct watch eyes = { .posts = posts,
					   .looks = looks,
					   .lets_find = second_look,
					   .found = found };
	static struct status in; /* not looked at: posts() saw it */
	struct duo d;

	duo_up(&d);
	/* In the lab nothing is here before its completion. */
	(void)wire_slow(&d.peer, 20);
	struct ibv_mr *from = open_memory(&d.peer, blocks, sizeof blocks);
	struct ibv_mr *to = open_memory(&d.you, room, sizeof room);
	struct ibv_mr *status = open_memory(&d.peer, &in, sizeof in);

	for (n = N; n > 0; n -= 3) { /* 6, 3 */
		reads = completed = 0;
		for (int i = 0; i < n; i++) {
			make_command(i, from->rkey);
			add_receive(&d.peer, 0, &in, sizeof in, status);
		}
		c[N - 1].len =
			0xfffffff0; /* below 0, if somebody takes it for an int */
		watch(&d.you, &eyes);
		serve(&d.you, c, n, room, to->lkey);
		about("%s", "");
		for (int i = 0; i < n; i++)
			if (state[i] != SENT)
				wrong("you returned, and command %d has no "
				      "status",
				      i);
		if (seen.found < seen.signaled)
			wrong("you returned, and %d completions are still to "
			      "come",
			      seen.signaled - seen.found);
	}
}
