/* SPDX-License-Identifier: MIT */
/*
 * judges/06_atomics/4_free_slots.c - a client comes at the worst moment.
 *
 * before: round 1, client 1: pop() returned slot 2, which client 2 has
 * hint1: The compare sees only whether two values are equal. What else
 * hint1: could the head contain, so that it never has an old value again?
 * hint1.zh: 比较时，只看两个值是否相等。头部里再放什么，就不会再出现用过的值？
 * hint2: Keep a number beside the slot, in the upper bits of the head,
 * hint2: and change it with each swap. The links have only slots.
 * hint2.zh: 在头部的高位，除了槽位编号再放一个数，每次交换都改。
 * hint2.zh: 链接里只有槽位编号。
 */
#include "4_free_slots.h"
#include "words_judge.h"

/* Round WRITES: before a link is written. Then one push() meets client 2 once, one many
 * times, and one pop() many times. */
enum { MANY = 13, WRITES = 4, PUSH, PUSH_MANY, POP_MANY, ROUNDS };
static int number; /* of the round, from 0 */
static int armed;  /* so often client 2 comes before a request of client 1 */
static int owner[SLOTS + 1];
static bool repeated; /* the head had an old value */

static uint64_t take(int client)
{
	uint64_t slot = pop();

	about("round %d, client %d", number + 1, client);
	if (slot > SLOTS)
		wrong("pop() returned a number that is no slot");
	if (slot && owner[slot])
		wrong("pop() returned slot %d, which client %d has", (int)slot,
		      owner[slot]);
	owner[slot] = client;
	return slot;
}

static void give(uint64_t slot)
{
	owner[slot] = 0;
	push(slot);
}

/* Is the head, which a swap has changed, what it was earlier? */
static void look_at_head(void)
{
	static uint64_t heads[4096];
	static int n;

	if (n == 4096 || (n > 0 && words[HEAD] == heads[n - 1]))
		return;
	for (int i = 0; i < n; i++)
		repeated |= words[HEAD] == heads[i];
	heads[n++] = words[HEAD];
}

/* Before client 1 swaps, client 2 takes two slots, or all, and gives one back, or
 * all; in rounds 2 and 4 one so often that there were 256 changes, or 256 push(). In
 * rounds 5 and 6 client 1 is in push(), and client 2 takes a slot and keeps it. In
 * round 7 it takes one and gives it back before each try of client 1: the head names the
 * same slot. In the last one it does one of the two before each try, and keeps the last. */
static void before_request(const struct ibv_send_wr *wr)
{
	bool writes = wr->opcode == IBV_WR_RDMA_WRITE;

	look_at_head();
	if (writes && wr->wr.rdma.remote_addr == (uintptr_t)&words[HEAD]) {
		about("round %d", number + 1);
		wrong("the head is written, and not swapped");
	}
	if (!armed ||
	    !(number == WRITES ? writes
			       : wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP))
		return;
	int again = armed - 1;
	armed = 0; /* its own requests are not disturbed */
	if (number == PUSH_MANY || number == POP_MANY) {
		static uint64_t lent; /* it takes one, and gives it back */
		uint64_t had = number == PUSH_MANY ? take(2) : lent;

		lent = had ? 0 : take(2);
		if (had)
			give(had);
		armed = again;
		return;
	}
	uint64_t first = take(2);
	if (!first)
		wrong("pop() returned 0, and slots are free");
	if (number >= WRITES)
		return;
	uint64_t second = take(2);
	uint64_t third = number > 0 ? take(2) : second;

	if (number == 2) {
		give(second);
		give(third);
	}
	for (int n = number == 1 ? 126 : number == 3 ? 255 : 0; n > 0; n--) {
		give(first);
		first = take(2);
	}
	give(first);
}

/* The clients are two programs: the new head can only come from the old one. */
static uint64_t head_after(uint64_t head)
{
	words[HEAD] = head;
	push(1);
	return words[HEAD];
}

void judge(void)
{
	open_words();
	watch(&duo.you, &(struct watch){ .posts = before_request });
	for (number = 0; number < ROUNDS; number++) {
		for (uint64_t slot = SLOTS; slot >= 1; slot--) {
			words[slot] = 0; /* the link is the owner's */
			if (slot == 1 && number >= WRITES && number < POP_MANY)
				armed = number == PUSH_MANY ? MANY : 1;
			give(slot);
			armed = 0;
		}
		armed = number < WRITES ? 1 : number == POP_MANY ? MANY : 0;
		while (take(1))
			;
		uint64_t empty = words[HEAD];
		if (take(1))
			wrong("pop() returned 0, and slots are free");
		if (words[HEAD] != empty)
			wrong("no slot is free, and pop() changes the head");
		for (int slot = 1; slot <= SLOTS; slot++)
			if (!owner[slot])
				wrong("slot %d is lost", slot);
	}
	about("%s", "");
	if (repeated)
		wrong("the head had an old value again: is its number made of "
		      "the head that the swap compares?");
	uint64_t head = words[HEAD], once = head_after(head);
	if (head_after(head) != once)
		wrong("the new head is not made of the old one alone: the "
		      "other client has other variables");
	at_once = true;
	for (int n = 2; n <= 140000; n += 2) {
		pop();
		push(1);
		if (words[HEAD] == once)
			wrong("after %d changes the head is what it was", n);
	}
}
