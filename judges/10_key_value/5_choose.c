/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/5_choose.c - four designs, four services.
 *
 * before: quotes is UNANSWERED: choose one, then run it
 * hint1: For each design: what does a reader change, what does a dead
 * hint1: client leave behind, and how many records does one word protect?
 * hint1.zh: 对每种设计都问：读者改动什么，已死的客户端留下什么，一个字保护几
 * hint1.zh: 条记录？
 * hint2: Begin with what each service forbids. One of them allows a
 * hint2: program to answer; three do not.
 * hint2.zh: 先看每种服务禁止什么。其中一种允许程序应答，另外三种不允许。
 */
#include "5_choose.h"

#include "designs.h"

/* What a client does for a read and for an update. */
static const struct design {
	const char *name, *read, *update;
} designs[] = {
	{ .name = "LOCK", .read = "LR|U", .update = "L|WU" },
	{ .name = "VERSION", .read = "v|R|v", .update = "o|We" },
	{ .name = "CHECKSUM", .read = "R", .update = "W" },
	{ .name = "SEND", .read = "s", .update = "s" },
};

static const struct service {
	const char *name;
	const int *choice;
	int trips;    /* a read takes at most so many; 0: as it likes */
	bool answers; /* the server's program runs, and has time */
	bool clients_write;
	bool readers_change; /* they may do more than READ */
	bool two_records;    /* that belong together */
	bool a_client_dies;
} services[] = {
	{ .name = "quotes", .choice = &quotes, .trips = 1 },
	{ .name = "board", .choice = &board, .clients_write = true },
	{ .name = "transfer",
	  .choice = &transfer,
	  .clients_write = true,
	  .readers_change = true,
	  .two_records = true },
	{ .name = "account",
	  .choice = &account,
	  .answers = true,
	  .clients_write = true,
	  .readers_change = true,
	  .a_client_dies = true },
};

static struct actor a, b;
static const struct design *how;

static void begin(struct actor *x, const char *lists, uint64_t value)
{
	x->at = lists;
	x->value = value;
}

/* One client stops after the first list of its update. Can another one update? */
static void die_in_the_middle(void)
{
	memset(&shared, 0, sizeof shared);
	begin(&a, how->update, 1);
	next_list(&a);
	if (*a.at == '\0')
		return; /* it has done all, or nothing */
	begin(&b, how->update, 2);
	for (int tries = 0; *b.at; tries++)
		if (!next_list(&b) && tries == 100)
			wrong("a client dies, and the others wait for ever");
}

/* Two clients READ a balance, add 1, and update. Are both there? */
static void add_twice(void)
{
	if (how->update[0] == 's')
		return; /* the server adds, one after the other */
	memset(&shared, 0, sizeof shared);
	begin(&a, how->update, 1);
	begin(&b, how->update, 1);
	if (strchr("Lo", *how->update)) {
		next_list(&a);
		(void)next_list(&b); /* somebody has it */
		while (*a.at)
			next_list(&a);
		b.value = shared.record[0] + 1; /* it looks again */
		while (*b.at)
			next_list(&b);
	} else {
		next_list(&a);
		next_list(&b);
	}
	if (shared.record[0] != 2)
		wrong("two clients change it at once, and one change is lost");
}

/* A reader between the updates of two records. A lock is for both of them, a version
 * and a checksum are each record's own. */
static void two_records(void)
{
	memset(&shared, 0, sizeof shared);
	begin(&a, how->update, 1);
	if (how->update[0] != 'L')
		all_lists(&a, how->update); /* the first of the two */
	else
		next_list(&a); /* and the WRITEs of both are to come */
	begin(&b, how->read, 0);
	if (!next_list(&b))
		return; /* it waits, until both are done */
	while (*b.at)
		next_list(&b);
	if (b.record[0] == 1)
		wrong("a reader sees one record changed, and not the other");
}

void judge(void)
{
	for (int i = 0; i < 4; i++)
		must_choose_as(services[i].name, *services[i].choice, LOCK,
			       VERSION, CHECKSUM, SEND);
	designs_up();
	actor_up(&a);
	actor_up(&b);
	for (int i = 0; i < 4; i++) {
		const struct service *s = &services[i];

		how = &designs[*s->choice];
		about("%s, %s", s->name, how->name);
		if (!s->answers && how->read[0] == 's')
			wrong("the server's program does not answer");
		memset(&shared, 0, sizeof shared);
		int trips = all_lists(&a, how->read);
		if (s->trips && trips > s->trips)
			wrong("a read takes %d round trips", trips);
		if (!s->readers_change && strpbrk(how->read, "LUoe+-"))
			wrong("a reader has to change a word, and may not");
		if (s->clients_write)
			add_twice();
		if (s->two_records)
			two_records();
		if (s->a_client_dies)
			die_in_the_middle();
	}
}
