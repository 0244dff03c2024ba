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
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "3_two_writers.h"

#include "records.h"

/* The other writer's steps: before you come, and after each look() of yours. */
static const char *const schedules[][2] = {
	{ "nobody else writes", "" },
	{ "an update by the other writer right after your look()", ".BE" },
	{ "the other writer begins right after your look()", ".B..E" },
	{ "the other writer is at work when you come", "B...E" },
};

static int looks, writes;
static bool
	any_moment; /* the other writer comes between any two instructions */

/* The reader comes when the record is whole, and goes when you are done. */
uint64_t look(void)
{
	uint64_t v = atomic_load(version);

	if (any_moment)
		return v;
	step();
	if (*version % 2 == 0) {
		fetch(&own.word[0], &record.version, 8);
		fetch_half(0);
	}
	if (++looks > 100)
		wrong("you look for ever, and write nothing");
	return v;
}

void write_data(uint64_t n)
{
	if (at_work)
		wrong("you write while the other writer does");
	if (*version % 2 == 0)
		wrong("the version is even while you write");
	writes++;
	write_both(n);
}

static void other_writer(int sig)
{
	(void)sig;
	steps = at_work ? "E" : "B";
	step();
}

/* A timer interrupts you, and the other writer begins or ends an update then. */
static void interrupted(void)
{
	struct sigevent by_signal = { .sigev_notify = SIGEV_SIGNAL,
				      .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { .tv_nsec = 50000 },
				    { .tv_nsec = 50000 } };
	timer_t timer;

	start("the other writer may begin at any moment", 6, "");
	any_moment = true;
	writes = 0;
	signal(SIGUSR1, other_writer);
	if (timer_create(CLOCK_MONOTONIC, &by_signal, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		die_err(errno, "the judge's timer");
	while (updates < 300)
		update(version, MINE);
	timer_delete(timer);
	if (at_work)
		other_writer(0);
	int grown = (int)(atomic_load(version) - 6);
	if (grown != 2 * (updates + writes))
		wrong("the version grew by %d with %d updates", grown,
		      updates + writes);
}

void judge(void)
{
	record_up();
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
		start(schedules[i][0], 6, schedules[i][1]);
		looks = writes = 0;
		step();
		update(version, MINE);
		fetch_half(1);
		fetch(&own.word[1], &record.version, 8);
		int grown = (int)own.word[1] - 6;

		if (writes != 1)
			wrong("you wrote %d times", writes);
		if (grown % 2 != 0)
			wrong("the version is odd at the end");
		if (own.word[0] == own.word[1] && is_torn(own.data))
			wrong("a reader accepted a torn record");
		if (grown != 2 * (updates + 1))
			wrong("the version grew by %d with %d updates", grown,
			      updates + 1);
	}
	interrupted();
}
