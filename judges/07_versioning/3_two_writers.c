/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/3_two_writers.c - the other writer, and a reader.
 *
 * before: an update by the other writer right after your look(): a reader accepted a torn record
 * hint1: What if the other writer has changed the version after your
 * hint1: look()? What if you see an odd version?
 * hint1.zh: look() 之后，另一个写者改了版本号，会怎样？看到奇数版本号，又
 * hint1.zh: 该怎样？
 * hint2: To find an even version and to make it odd must be one step:
 * hint2: atomic_compare_exchange_strong(). If it fails, look again.
 * hint2.zh: 看到偶数版本号和把它改成奇数，必须是一步：
 * hint2.zh: atomic_compare_exchange_strong()。失败了，就再看。
 */
#include <stdio.h>

#define TWO_WRITERS_JUDGE
#include "3_two_writers.h"

#include "records.h"

/* The other writer's steps: before you come, and after each look() of yours. */
static const char *const schedules[][2] = {
	{ "nobody else writes", "" },
	{ "an update by the other writer right after your look()", ".BE" },
	{ "the other writer begins right after your look()", ".B..E" },
	{ "the other writer is at work when you come", "B...E" },
	{ "the other writer takes its time",
	  "B........................................E" },
};

/* The same before each access of yours, so many '.' later. */
static const char *const moments[] = { "B.E", "BE", "BE.BE", NULL };
enum { ACCESSES = 8 };

static int looks, writes, blind; /* accesses since your last look() */
static bool each_access;
/* What the exercise gets. The version is elsewhere, so that it can only be changed where
 * the judge sees it. */
enum { DECOY = 1 };
static const uint64_t first = (1ULL << 40) + 6; /* version */
static _Atomic uint64_t decoy;
static uint64_t left; /* the version when this was last looked at */
static bool went_back;
static memory_order last_order; /* of your last access */
static bool released;           /* by a fence behind write_data() */

static bool is_release(memory_order order)
{
	return order == memory_order_release || order == memory_order_acq_rel ||
	       order == memory_order_seq_cst;
}

/* Before the other writer moves: what has your last access done? */
static void look_at_version(void)
{
	if (*version == left)
		return;
	if (at_work)
		wrong("you changed the version while the other writer writes");
	if (*version % 2 == 0 && !released && !is_release(last_order))
		wrong("your even version may be seen before your data: it "
		      "needs memory_order_release");
	went_back |= *version < left;
	left = *version;
}

static void other_writer(void)
{
	look_at_version();
	step();
	left = *version;
}

/* The reader comes when the record is whole, and goes when you are done. */
uint64_t look(void)
{
	look_at_version();
	if (went_back)
		wrong("the version went back");
	if (++looks > 100)
		wrong("you look for ever, and write nothing (is *version "
		      "only changed by the functions atomic_...()?)");
	before_access(&decoy, memory_order_seq_cst);
	blind = 0;
	uint64_t v = atomic_load(version);

	if (each_access)
		return v;
	other_writer();
	if (*version % 2 == 0) {
		fetch(&own.word[0], &record.version, 8);
		fetch_half(0);
	}
	return v;
}

uint64_t *before_access(_Atomic uint64_t *p, memory_order order)
{
	look_at_version();
	if (++blind > 1000)
		wrong("your loop waits without look(): the other writer "
		      "moves on only there");
	if (each_access)
		other_writer();
	last_order = order;
	return (uint64_t *)(p == &decoy ? version : p);
}

void before_fence(memory_order order)
{
	look_at_version();
	released |= is_release(order);
}

/* An operator of C has changed what update() got, and not the version. */
static void look_at_decoy(void)
{
	if (decoy != DECOY)
		wrong("you changed *version, and not by the functions "
		      "atomic_...()");
}

void write_data(uint64_t n)
{
	look_at_decoy();
	if (at_work)
		wrong("you write while the other writer does");
	if (*version % 2 == 0)
		wrong("the version is even while you write");
	if (n != MINE)
		wrong("you write %llu, and not n", (unsigned long long)n);
	writes++;
	released = false;
	write_both(n);
}

static void try(const char *what, const char *its_steps)
{
	start(what, first, its_steps);
	looks = writes = blind = 0;
	left = first;
	went_back = released = false;
	other_writer();
	decoy = DECOY;
	update(&decoy, MINE);
	look_at_version();
	look_at_decoy();
	while (each_access && *steps)
		step();
	fetch_half(1);
	fetch(&own.word[1], &record.version, 8);
	int grown = (int)(own.word[1] - first);

	if (writes != 1)
		wrong("you wrote %d times", writes);
	if (grown % 2 != 0)
		wrong("the version is odd at the end");
	if (!each_access && own.word[0] == own.word[1] && is_torn(own.data))
		wrong("a reader accepted a torn record");
	if (grown != 2 * (updates + 1))
		wrong("the version grew by %d with %d updates", grown,
		      updates + 1);
	if (went_back)
		wrong("the version went back");
}

void judge(void)
{
	record_up();
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
		try(schedules[i][0], schedules[i][1]);
	each_access = true;
	for (int n = 1; n <= ACCESSES; n++) {
		for (int i = 0; moments[i]; i++) {
			char what[80], its_steps[ACCESSES + 8];

			snprintf(what, sizeof what,
				 "the other writer comes just before your "
				 "access %d",
				 n);
			snprintf(its_steps, sizeof its_steps, "%.*s%s", n,
				 "........", moments[i]);
			try(what, its_steps);
		}
	}
}
