/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/4_credits.c - a peer that gives slots back when you wait.
 *
 * before: message 4: slot 0 of 4 is not free
 * hint1: Which number must be counted, and which must be remembered? When
 * hint1: you wait for a credit, and something else completes, what do you
 * hint1: do?
 * hint1.zh: 哪一样只要计数，哪一样必须记住是哪几个？等 credit 的时候，先完成的
 * hint1.zh: 是别的请求，怎么办？
 * hint2: An array of the free slots and a count: take from its end, put
 * hint2: back at its end. One function takes one completion of either
 * hint2: kind, and does what belongs to that kind. Call it while no slot
 * hint2: is free, and at the end until all have come.
 * hint2.zh: 一个数组放空闲的槽位，一个变量记个数：从末尾取，还到末尾。写一个函
 * hint2.zh: 数，取一条 CQE，不论哪一种，并做这一种该做的事。没有空闲槽位时调用
 * hint2.zh: 它；最后也调用，直到全部到齐。
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "4_credits.h"
#include "queues.h"

const char *an_error_ends_it = "1uLP"; /* one of each kind, twice */

static char data[MESSAGES * SLOT], slots[SLOTS * SLOT];
static struct duo d;

static bool full[SLOTS];     /* as you must see it */
static int credits;          /* that you took */
static bool behind;          /* a receive, or it never comes */
static bool early;           /* the last, before the completion of a WRITE */
static bool writes_last;     /* the last WRITEs complete behind all credits */
static uint32_t held[SLOTS]; /* slots that the peer has not given back */
static int received, n_held, given, batches;

static void posts(const struct ibv_send_wr *wr)
{
	uint32_t slot = ntohl(wr->imm_data);

	about("message %d", seen.posted);
	if (slot >= SLOTS)
		wrong("there is no slot %u of %d; is that in our byte order?",
		      slot, SLOTS);
	if (full[slot])
		wrong("slot %u of %d is not free", slot, SLOTS);
	full[slot] = true;
	behind |= seen.receives <= seen.posted;
	if (!(wr->send_flags & IBV_SEND_SIGNALED))
		wrong("its WRITE must be SIGNALED, as write_message() had it");
	if (!wr->num_sge ||
	    wr->sg_list->addr != (uintptr_t)data + (size_t)seen.posted * SLOT)
		wrong("its bytes are not those of this message");
	if (wr->wr.rdma.remote_addr != (uintptr_t)slots + (size_t)slot * SLOT)
		wrong("it goes to another slot than its immediate says");
}

/* One slot of those that are held, seldom the one that is held for longest. In each
 * second batch it is the newest. */
static void give_back(void)
{
	int pick = n_held - 1;
	struct ibv_send_wr credit = { .opcode = IBV_WR_SEND_WITH_IMM };

	if (batches % 2 == 1 && n_held > 1)
		pick = 1 + batches % (n_held - 1);
	credit.imm_data = htonl(held[pick]);
	if (received - n_held == seen.receives)
		wrong("a credit comes, and no receive is posted for it");
	held[pick] = held[--n_held];
	given++;
	execute(&d.peer, credit);
}

/* The second batch of credits comes before the completions of the WRITEs that are under
 * way, and so does each second one after it. */
static bool holds(void)
{
	bool late =
		batches % 2 == 1 || (writes_last && seen.posted == MESSAGES);

	return credits < given ? batches > 1 : late && given < MESSAGES;
}

static void looks(void)
{
	int n_full = seen.posted - credits;

	if (seen.receives - credits > SLOTS)
		wrong("more receives are posted than credits came");
	if (behind && seen.receives >= seen.posted)
		wrong("its receive is posted behind it: too late for a credit");

	if (seen.posted < MESSAGES && n_full < SLOTS) {
		if (seen.in_vain > A_WAIT)
			wrong("you wait, and %d of %d slots are free%s",
			      SLOTS - n_full, SLOTS,
			      early ? ": a credit may come before the "
				      "completion "
				      "of a WRITE"
				    : "");
		return;
	}
	/* You must have taken all there is before more comes, at the end all that may come. */
	if (seen.in_vain == 0 || (seen.posted == MESSAGES && !holds() &&
				  seen.found - credits < MESSAGES))
		return;
	for (; received < seen.posted; received++)
		held[n_held++] = ntohl(wait_wc(&d.peer).imm_data);
	if (n_held == n_full) /* all slots, or the last messages */
		for (int n = batches++ % SLOTS; n >= 0 && n_held; n--)
			give_back();
}

/* Nothing completes for whoever waits while a slot is free. At the end an empty CQ does
 * not say that all is done. */
static bool lets_find(void)
{
	return seen.posted == MESSAGES ? second_look()
				       : seen.posted - credits == SLOTS;
}

static void found(const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RECV && wc->status == IBV_WC_SUCCESS) {
		early = holds();
		full[ntohl(wc->imm_data)] = false;
		credits++;
	}
}

static void judge_one_end(void)
{
	static const struct watch eyes = { .posts = posts,
					   .looks = looks,
					   .lets_find = lets_find,
					   .found = found };

	duo_up(&d);
	struct stock s = {
		.data = data,
		.lkey = open_memory(&d.you, data, sizeof data)->lkey,
		.rkey = open_memory(&d.peer, slots, sizeof slots)->rkey,
		.addr = (uintptr_t)slots,
	};

	for (int i = 0; i < MESSAGES; i++)
		add_receive(&d.peer, 0, NULL, 0, NULL);
	hold_sends(&d.you, holds);
	watch(&d.you, &eyes);
	for (int i = 0; i < SLOTS; i++)
		add_receive(&d.you, 0, NULL, 0, NULL);
	send_all(&d.you, &s);
	about("%s", "");
	if (seen.found < 2 * MESSAGES)
		wrong("you returned before all WRITEs and credits had come");
	if (seen.receives < SLOTS + MESSAGES)
		wrong("you returned, and %d receives are not posted again",
		      SLOTS + MESSAGES - seen.receives);
}

/* At the end credits come last, or completions of WRITEs: two runs of this program, as
 * send_all() is called once. */
void judge(void)
{
	static const char second[] = "SECOND_RUN";

	writes_last = getenv(second);
	judge_one_end();
	if (writes_last)
		return;
	setenv(second, "1", 1);
	execl("/proc/self/exe", program_invocation_name, (char *)NULL);
	die_err(errno, "execl");
}
