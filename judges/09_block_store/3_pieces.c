/* SPDX-License-Identifier: MIT */
/*
 * judges/09_block_store/3_pieces.c - a client whose buffer is in several parts.
 *
 * before: to the client, one part: part 0 is not what it should be
 * hint1: Which of the two directions needs something between the data and
 * hint1: the reply? On which request does it stand, and how often is it
 * hint1: needed for four parts?
 * hint1.zh: 两个方向中，哪一个在数据和应答之间还需要什么？加在哪个请求上？有四
 * hint1.zh: 段数据时，要加几次？
 * hint2: An array of PIECES requests and as many ibv_sge, linked by next.
 * hint2: Walk through w->data by the lengths. The fence is on the SEND,
 * hint2: and only if it has a READ in front of it.
 * hint2.zh: 一个数组放 PIECES 个请求，ibv_sge 也要这么多，用 next 连起来。按
 * hint2.zh: 各段的长度走完 w->data。fence 加在 SEND 上，而且只在它前面有 READ
 * hint2.zh: 时才加。
 */
#include <string.h>

#include "3_pieces.h"
#include "looks.h"

const char *an_error_ends_it = "1";

enum { SIZE = 8192, HALF = 4000 }; /* two regions: no part is in both */

static char data[SIZE], memory[SIZE], words[8] = "a reply", message[64];
static char pattern[SIZE]; /* what the source has */

static const struct {
	const char *what;
	int n;
	uint32_t at[PIECES], len[PIECES];
} commands[] = {
	{ .what = "one part", .n = 1, .at = { 100 }, .len = { 3000 } },
	{ .what = "two parts",
	  .n = 2,
	  .at = { 5000, 10 },
	  .len = { 700, 1500 } },
	{ .what = "four parts",
	  .n = 4,
	  .at = { 1, 2001, 4001, 6001 },
	  .len = { 1999, 1, 1500, 64 } },
	{ .what = "an empty part",
	  .n = 3,
	  .at = { 3000, 5000, 500 },
	  .len = { 8, 0, 1100 } },
	{ .what = "an empty part in front",
	  .n = 2,
	  .at = { 5000, 3000 },
	  .len = { 0, 8 } },
	{ .what = "an empty part at the end",
	  .n = 2,
	  .at = { 3000, 0 },
	  .len = { 8, 0 } },
	{ .what = "no part at all", .n = 0, .at = { 0 }, .len = { 0 } },
	{ .what = "nothing but an empty part",
	  .n = 1,
	  .at = { 3000 },
	  .len = { 0 } },
};

static struct duo d;
static struct ibv_mr *ours, *theirs[2], *reply, *in;
static bool reply_posted;

static void posts(const struct ibv_send_wr *wr)
{
	if (seen.lists == 2)
		wrong("a second list: one is enough");
	if (reply_posted)
		wrong("a request is posted behind the reply");
	if (wr->send_flags & IBV_SEND_FENCE && wr->opcode != IBV_WR_SEND)
		wrong("a fence that is not on the reply: what waits for it?");
	if (wr->send_flags & (IBV_SEND_INLINE | IBV_SEND_SOLICITED))
		wrong("a flag that nothing needs");
	reply_posted = wr->opcode == IBV_WR_SEND;
}

static void looks(void)
{
	if (seen.in_vain > 0 && seen.found == seen.signaled && !failed)
		wrong("you wait, and nothing that is SIGNALED is under way");
}

static const struct watch eyes = { .posts = posts,
				   .looks = looks,
				   .lets_find = patient_look };

static void try(size_t i, bool to_client)
{
	struct part part[PIECES];
	struct work w = { .data = data,
			  .reply = piece(words, 8, reply),
			  .lkey = ours->lkey };
	int n = commands[i].n, parts = 0;
	uint32_t at = 0;

	about("%s the client, %s", to_client ? "to" : "from", commands[i].what);
	memset(message, 0, sizeof message);
	memset(to_client ? memory : data, '?', SIZE);
	memcpy(to_client ? data : memory, pattern, SIZE);
	for (int p = 0; p < PIECES; p++) /* what is not there is rubbish */
		part[p] = (struct part){ .addr = (uintptr_t)memory,
					 .rkey = 1,
					 .len = 7 };
	for (int p = 0; p < n; p++) {
		part[p] = (struct part){
			.addr = (uintptr_t)memory + commands[i].at[p],
			.rkey = theirs[commands[i].at[p] >= HALF]->rkey,
			.len = commands[i].len[p]
		};
		parts += part[p].len > 0;
	}
	add_receive(&d.peer, 0, message, sizeof message, in);
	reply_posted = false;
	watch(&d.you, &eyes);
	transfer(&d.you, &w, part, n, to_client);
	watch(&d.you, NULL);
	if (!reply_posted)
		wrong("no reply");
	if (!seen.last_signaled)
		wrong("the reply is not SIGNALED");
	if (seen.found < seen.signaled)
		wrong("you did not take all completions");
	struct ibv_wc wc = wait_wc(&d.peer);
	if (wc.status != IBV_WC_SUCCESS || wc.byte_len != 8 ||
	    memcmp(message, words, 8) != 0)
		wrong("the reply is not w->reply");
	for (int p = 0; p < n; at += part[p++].len) {
		const char *here = data + at;
		const char *there = memory + commands[i].at[p];
		const char *was =
			pattern + (to_client ? at : commands[i].at[p]);

		if (memcmp(here, was, part[p].len) != 0 ||
		    memcmp(there, was, part[p].len) != 0)
			wrong("part %d is not what it should be", p);
	}
	for (uint32_t k = at; k < SIZE && !to_client; k++)
		if (data[k] != '?')
			wrong("more was fetched than there is");
	if (!to_client && parts > 0 && seen.fences == 0)
		wrong("what keeps the reply from being sent before the data "
		      "is here?");
	if (seen.fences > (to_client || parts == 0 ? 0 : 1))
		wrong("right, but there is a fence that nothing needs");
	enough(1, parts + 1, 1);
}

void judge(void)
{
	for (int k = 0; k < SIZE; k++)
		pattern[k] = (char)(k * 7 + k / 256);
	duo_up(&d);
	ours = open_memory(&d.you, data, SIZE);
	reply = open_memory(&d.you, words, sizeof words);
	theirs[0] = open_memory(&d.peer, memory, HALF);
	theirs[1] = open_memory(&d.peer, memory + HALF, SIZE - HALF);
	in = open_memory(&d.peer, message, sizeof message);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		try(i, true);
		try(i, false);
	}
}
