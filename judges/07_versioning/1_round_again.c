/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/1_round_again.c - a version that is one byte.
 *
 * before: after_127 is UNANSWERED: choose one, then run it
 * hint1: How much does one update add to the version? When is a byte the
 * hint1: same again?
 * hint1.zh: 一次更新给版本号加几？一个字节什么时候又是原来的值？
 * hint2: Write down the two versions that the reader has, and the number
 * hint2: of the update that each half comes from. Only the first decides
 * hint2: what the reader accepts.
 * hint2.zh: 写下读者得到的两个版本号，以及每一半来自第几次更新。读者是否接受，
 * hint2.zh: 只由两个版本号决定。
 * gives away: 128 updates
 * gives away: half of 256
 * gives away: adds 2, so
 * gives away: whole, but newer
 */
#include "1_round_again.h"

#include "records.h"

static void update(int times)
{
	static uint64_t n;

	n += (uint64_t)times;
	write_both(n);
	record.version = (record.version + 2 * (uint64_t)times) % 256;
}

/* before, between, behind: updates before, between and behind the halves. */
static int experiment(int before, int between, int behind)
{
	fetch(&own.word[0], &record.version, 8);
	update(before);
	fetch_half(0);
	update(between);
	fetch_half(1);
	update(behind);
	fetch(&own.word[1], &record.version, 8);

	bool torn = is_torn(own.data);
	if (own.word[0] != own.word[1] || own.word[1] % 2 != 0)
		return torn ? REJECTED_TORN : REJECTED_WHOLE;
	return torn ? ACCEPTED_TORN : ACCEPTED_WHOLE;
}

#define ALL_FOUR REJECTED_WHOLE, REJECTED_TORN, ACCEPTED_WHOLE, ACCEPTED_TORN

void judge(void)
{
	record_up();
	must_choose(after_127, ALL_FOUR);
	must_choose(after_128, ALL_FOUR);
	must_choose(twice_64, ALL_FOUR);
	check_answer(after_127, experiment(127, 0, 0),
		     "after_127: the version then, and when the data was READ");
	check_answer(after_128, experiment(128, 0, 0),
		     "after_128: the version then, and when the data was READ");
	check_answer(twice_64, experiment(0, 64, 64),
		     "twice_64: the version then, and the update of each half");
}
