/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/5_dead_writer.c - a writer that dies, or is slow.
 *
 * before: a writer that ends soon: a late WRITE came into what you had restored
 * hint1: What may the writer do between your last look() and the end of
 * hint1: cut_off()? Which even versions may a reader have READ already?
 * hint1.zh: 从最后一次 look() 到 cut_off() 结束，写者还可能做什么？哪些偶数版本
 * hint1.zh: 号可能已经被读者 READ 过？
 * hint2: First cut off, then look again: only now does the version stand
 * hint2: still. If it is odd, restore the data while it is odd, and go
 * hint2: forward to the next even one.
 * hint2.zh: 先切断，再看一次：到这时，版本号才不再变。如果是奇数，就在奇数期间
 * hint2.zh: 恢复数据，再推进到下一个偶数。
 */
#include "5_dead_writer.h"

#include "records.h"

#define TWENTY "EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB.EB."

/* The writer's steps before each look, and while it is being cut off. */
static const char *const schedules[][3] = {
	{ "a writer that ends soon", "...E", "" },
	{ "a writer that is at work again at each look",
	  TWENTY TWENTY TWENTY TWENTY "E", "" },
	{ "a slow writer", "....E", "" },
	{ "a dead writer", "", "" },
	{ "a writer that ends as you cut it off", "", "E" },
	{ "a writer that ends, begins again, and dies", "", "EB" },
	{ "a slow writer that begins again twice, and dies", "...EB...EB", "" },
};

static const uint64_t first = (1ULL << 40) + 10; /* version */
static const char *last;
static int looks, same; /* the same: since the version was another one */
static bool cut;

uint64_t look(void)
{
	static uint64_t before;

	step();
	if (++looks > 100)
		wrong("you look for ever");
	uint64_t now = atomic_load(version);
	same = now == before ? same + 1 : 1;
	before = now;
	return now;
}

void cut_off(void)
{
	if (*steps || (!at_work && !cut) || same < PATIENCE)
		wrong("you cut off a writer that lives");
	if (!cut && same > PATIENCE + 1)
		wrong("%d looks return the same, and %d are enough", same,
		      PATIENCE);
	if (!cut) {
		steps = last;
		step();
	}
	cut = true;
}

void restore(void)
{
	if (*version % 2 == 0)
		wrong("you restore a record while its version is even");
	if (!cut)
		wrong("a late WRITE came into what you had restored");
	write_both(OTHERS + (uint64_t)updates);
}

void set_version(uint64_t new)
{
	atomic_store(version, new);
	if (new % 2 == 0 && is_torn(record.data))
		wrong("an even version, and the data is torn");
}

void judge(void)
{
	record_up();
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
		start(schedules[i][0], first, "B");
		step();
		steps = schedules[i][1];
		last = schedules[i][2];
		cut = false;
		looks = same = 0;
		rescue();
		/* A reader READ the version before the last update began. */
		uint64_t now = *version, known = first + 2 * (uint64_t)updates;

		if (now % 2 != 0)
			wrong("the version is still odd");
		if (at_work && now <= known)
			wrong("version %llu again: a reader accepts torn data",
			      (unsigned long long)now);
	}
}
