/* SPDX-License-Identifier: MIT */
/*
 * judges/09_block_store/4_credits.c - clients that come and go, and a queue that
 * must last for all. Only numbers: no device.
 *
 * before: one client, alone: a busy client has 1, and could have 29
 * hint1: How many receives are for the clients that are here? What is the
 * hint1: share of one, and what is left of them at this moment? Which of
 * hint1: the two numbers is the limit?
 * hint1.zh: 有多少个接收请求留给已经来了的客户端？一个客户端的份额是多少，此刻
 * hint1.zh: 还剩多少？两个数中，哪个是上限？
 * hint2: receives - (free places) is for those here. Give what is missing
 * hint2: to the share, but not more than is left. If the client has more
 * hint2: than its share: 0, until it has used some.
 * hint2.zh: receives -（空位数）是留给已来客户端的。补到份额为止，但不超过剩下
 * hint2.zh: 的。客户端持有的比份额多：给 0，直到它用掉一些。
 */
#include <stdlib.h>

#include "4_credits.h"

static struct queue q;
static int under_way[PLACES];

static int held(void)
{
	int n = 0;

	for (int i = 0; i < PLACES; i++)
		n += q.held[i];
	return n;
}

static int clients(void)
{
	int n = 0;

	for (int i = 0; i < PLACES; i++)
		n += q.here[i];
	return n;
}

/* Client i has come, or one of its commands is answered. */
static void give(int i)
{
	int n = credits(&q, i);

	if (n < 0)
		wrong("%d credits cannot be taken back: the client may have "
		      "used them",
		      n);
	q.held[i] += n;
	if (held() > q.receives)
		wrong("%d commands may come, and there are %d receives: RNR",
		      held(), q.receives);
	if (q.held[i] == 0)
		wrong("a client has no credit and no command under way: it "
		      "can never ask again");
	if (held() + PLACES - clients() > q.receives)
		wrong("nothing is left for the next client that comes");
}

static void come(int i)
{
	q.here[i] = true;
	q.held[i] = under_way[i] = 0;
	give(i);
}

static void leave(int i)
{
	q.here[i] = false;
	q.held[i] = under_way[i] = 0;
}

static void answer(int i)
{
	under_way[i]--;
	q.held[i]--;
	give(i);
}

/* Each of the clients that are here asks for as long as it has credits, and is
 * answered, one command a round. */
static void busy(int rounds)
{
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < PLACES; i++) {
			if (!q.here[i])
				continue;
			under_way[i] = q.held[i];
			answer(i);
		}
}

static void expect(int least, int most)
{
	for (int i = 0; i < PLACES; i++) {
		if (q.here[i] && q.held[i] < least)
			wrong("a busy client has %d, and could have %d",
			      q.held[i], least);
		if (q.here[i] && q.held[i] > most)
			wrong("a busy client has %d, and its share is %d",
			      q.held[i], most);
	}
}

/* Of n clients that are here. */
static void expect_share(int n)
{
	int share = (q.receives - (PLACES - n)) / n;

	expect(share, share);
}

static void try(int receives)
{
	unsigned seed = 9;

	q = (struct queue){ .receives = receives };
	about("one client, alone");
	come(0);
	busy(100);
	expect_share(1); /* one for each of the three places */
	about("a second client comes");
	come(1);
	busy(100);
	expect_share(2);
	about("three clients");
	come(2);
	busy(100);
	expect_share(3);
	about("four clients");
	come(3);
	busy(100);
	expect_share(4);
	about("three of four have left");
	leave(0);
	leave(2);
	leave(3);
	busy(100);
	expect_share(1);
	about("a client that does not use its credits, and one that comes");
	come(0);
	for (int r = 0; r < 100; r++) {
		under_way[0] = 1;
		answer(0);
	}
	about("they come and go");
	for (int n = 0; n < 100000; n++) {
		int i = rand_r(&seed) % PLACES;

		if (!q.here[i])
			come(i);
		else if (rand_r(&seed) % 50 == 0)
			leave(i);
		else if (q.held[i] > 0) {
			under_way[i] = 1 + rand_r(&seed) % q.held[i];
			answer(i);
		}
	}
	about("%s", "");
}

void judge(void)
{
	try(32);
	try(PLACES);
	try(13);
}
