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
 * hint2.zh: 在头部的高位，除了槽位再放一个编号，每次交换都改。链接里只有槽位。
 */
#include "4_free_slots.h"
#include "words_judge.h"

static int number; /* of the round, from 0 */
static bool armed; /* client 2 comes before client 1's next swap */
static int owner[SLOTS + 1];

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

/* Client 2 takes two slots, or all, and gives one back, or all. */
static void before_swap(const struct ibv_send_wr *wr)
{
	if (wr->opcode != IBV_WR_ATOMIC_CMP_AND_SWP || !armed)
		return;
	armed = false;
	uint64_t first = take(2), second = take(2);
	uint64_t third = number > 0 ? take(2) : second;

	if (number == 2) {
		give(second);
		give(third);
	}
	give(first);
}

void judge(void)
{
	open_words();
	watch(&duo.you, &(struct watch){ .posts = before_swap });
	for (number = 0; number < 3; number++) {
		for (uint64_t slot = SLOTS; slot >= 1; slot--)
			give(slot);
		armed = true;
		while (take(1))
			;
		for (int slot = 1; slot <= SLOTS; slot++)
			if (!owner[slot])
				wrong("slot %d is lost", slot);
	}
}
