/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/6_which_one.c - four mechanisms, three problems.
 *
 * before: small_field is UNANSWERED: choose one, then run it
 * hint1: What does each mechanism need: memory, requests in a row, bytes,
 * hint1: and something that a dead client would hold?
 * hint1.zh: 每种机制各需要什么：多少内存、几个先后相接的请求、多少字节？客户端
 * hint1.zh: 死了，会占着什么？
 * hint2: Make a table of four rows and these four columns. For transfer
 * hint2: ask what may happen between a client's READ and its WRITE.
 * hint2.zh: 画一张表，四种机制各一行，前一条提示的四项各一列。对 transfer 要
 * hint2.zh: 问：客户端的 READ 和 WRITE 之间，可能发生什么？
 */
#include "6_which_one.h"
#include "lesson.h"

enum { PLENTY = 1 << 20 };

static const char *const names[] = { "LOCK", "VERSION", "CHECKSUM",
				     "TWO_COPIES" };

static const struct problem {
	const char *name;
	const int *choice;
	int copies, bytes;   /* memory there is; may be fetched in one try */
	int words, requests; /* wanted; allowed in one try */
	bool dies, changes;  /* does the client? */
} problems[] = {
	{ .name = "small_field",
	  .choice = &small_field,
	  .copies = 1,
	  .bytes = 1000,
	  .words = 8,
	  .requests = 10,
	  .dies = true },
	{ .name = "far_away",
	  .choice = &far_away,
	  .copies = 2,
	  .bytes = PLENTY,
	  .words = WORDS,
	  .requests = 1,
	  .dies = true },
	{ .name = "transfer",
	  .choice = &transfer,
	  .copies = 2,
	  .bytes = PLENTY,
	  .words = WORDS,
	  .requests = 10,
	  .changes = true },
};

static struct {
	uint64_t word, data[WORDS]; /* word: lock, version, sum or newest */
} memory, own;
static struct duo d;
static struct ibv_mr *theirs, *ours;
static int requests, bytes;

static void execute_one(enum ibv_wr_opcode opcode, void *here, void *there,
			int len)
{
	struct ibv_sge sge = piece(here, (size_t)len, ours);
	struct ibv_send_wr wr = request(opcode, &sge, there, theirs);

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		wr.wr.atomic.swap = 1; /* from 0 */
	execute(&d.you, wr);
	requests++;
	bytes += len;
}

/* A client's try, while nobody writes. Is it accepted? LOCK keeps the lock. */
static bool try_it(int how, int words)
{
	requests = bytes = 0;
	if (how == CHECKSUM) {
		execute_one(IBV_WR_RDMA_READ, &own, &memory, sizeof own);
		return true;
	}
	execute_one(how == LOCK ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_RDMA_READ,
		    &own.word, &memory.word, 8);
	if (how == LOCK && own.word != 0)
		return false;
	execute_one(IBV_WR_RDMA_READ, own.data, memory.data, words * 8);
	if (how != LOCK)
		execute_one(IBV_WR_RDMA_READ, &own.word, &memory.word, 8);
	return true;
}

static void run_problem(const struct problem *p)
{
	int how = *p->choice;

	about("%s, %s", p->name, names[how]);
	memory.word = 0;
	if (how == TWO_COPIES && p->copies < 2)
		wrong("two copies, and there is memory for one");
	try_it(how, p->words);
	if (requests > p->requests)
		wrong("%d round trips for a try, %d is allowed", requests,
		      p->requests);
	if (bytes > p->bytes)
		wrong("%d bytes fetched for %d", bytes, p->words * 8);
	if (p->dies && memory.word != 0)
		wrong("a client died, and the writer waits for ever");
	if (p->changes && try_it(how, p->words))
		wrong("of two changes one is lost: both READ before one wrote");
}

void judge(void)
{
	duo_up(&d);
	theirs = open_memory(&d.peer, &memory, sizeof memory);
	ours = open_memory(&d.you, &own, sizeof own);
	for (int i = 0; i < 3; i++)
		must_choose_as(problems[i].name, *problems[i].choice, LOCK,
			       VERSION, CHECKSUM, TWO_COPIES);
	for (int i = 0; i < 3; i++)
		run_problem(&problems[i]);
}
