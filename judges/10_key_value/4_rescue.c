/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/4_rescue.c - a slot of a client that does not go on, and
 * other clients that move at the same time.
 *
 * before: a dead writer: you WRITE into a slot that is not yours
 * hint1: Who else may write into this slot, before your WRITE and after
 * hint1: it? What stops each of them? And which of the two logs is for
 * hint1: this PUT?
 * hint1.zh: 在你的 WRITE 之前和之后，还有谁可能写这个槽位？各由什么阻止？两份意
 * hint1.zh: 图日志中，哪一份属于这次 PUT？
 * hint2: The server stops the old writer. A swap from its odd version to
 * hint2: an odd version of yours stops the other rescuers. What must be
 * hint2: in your log before this swap?
 * hint2.zh: 服务端阻止原来的写者。把它的奇数版本号交换成你的奇数版本号，就阻止
 * hint2.zh: 了其他接管者。这次交换之前，你的意图日志里必须有什么？
 */
#include "4_rescue.h"

#include "slots.h"

enum { KEY = 5, SLOT = 5, OLD = 1000, NEW = 2000, LATER = 3000 };

/* When what happens. ENDS: client 1 ends its PUT, and another client PUTs. */
enum event {
	NOTHING,
	LATE,             /* client 1 writes what it had posted */
	ENDS_BEFORE_CUT,  /* as you ask for it */
	AGAIN_BEFORE_CUT, /* the same; then client 1 begins its next PUT here */
	OTHER_IS_FIRST,   /* client 3 has rescued the slot, before your swap */
	OTHER_HAS_IT,     /* client 3 is about to */
};
static const struct {
	const char *what;
	enum event event;
	unsigned writer;       /* 0: client 1 */
	const char *other_log; /* what its other log is for: another ... */
	bool higher;           /* it has a higher version */
} cases[] = {
	{ .what = "a dead writer" },
	{ .what = "a slow writer", .event = LATE },
	{ .what = "a writer that ends as you cut it off",
	  .event = ENDS_BEFORE_CUT },
	{ .what = "a writer that ends, and begins again",
	  .event = AGAIN_BEFORE_CUT },
	{ .what = "another client is faster", .event = OTHER_IS_FIRST },
	{ .what = "another client has just taken the slot",
	  .event = OTHER_HAS_IT },
	{ .what = "a dead writer with another number", .writer = 3 },
	{ .what = "a dead writer that has used another slot",
	  .other_log = "slot" },
	{ .what = "a dead writer whose other slot has a higher version",
	  .other_log = "slot",
	  .higher = true },
	{ .what = "a dead writer that has used the slot before",
	  .other_log = "version" },
};
enum { CASES = sizeof cases / sizeof cases[0] };

static struct slot *const slot = &table.slot[SLOT];
static enum event event;
static unsigned writer;
static const char *other_log;
static bool logs_too;     /* its PUT may end before you READ its logs */
static int its_log;       /* which of the two is for this PUT */
static struct record new; /* what it wants to write */
static bool cut, ours_now, late_done;
static uint64_t others_version; /* what others left; 0: they did nothing */

/* The slot is yours. What if you die now? */
static void look_at_your_log(uint64_t version)
{
	const struct log *l = &table.log[YOU - 1][0];

	if (other_log &&
	    memcmp(&l->record, &table.log[writer - 1][!its_log].record,
		   sizeof l->record) == 0)
		wrong("you took the log of another %s", other_log);
	if (memcmp(&l->record, &new, sizeof new) != 0)
		wrong("if you die now, your log does not say what to write");
	if (l->slot != SLOT || l->version != version)
		wrong("if you die now, your log is for another PUT");
	if (l->check != log_check(l))
		wrong("if you die now, the checksum of your log is wrong");
}

static void before_request(void)
{
	one_more_request();
	if (ours_now)
		look_at_your_log(slot->version);
	/* Late is: after you have taken the slot. */
	if (event == LATE && ours_now && !late_done) {
		late_done = true;
		if (!cut)
			wrong("a late WRITE of client %u comes into the slot, "
			      "and it is yours",
			      writer);
	}
}

static void others_go_on(uint64_t value)
{
	others_put(SLOT, KEY, value);
	others_version = slot->version;
}

static void set_log(int i, unsigned s, uint64_t version, struct record r)
{
	struct log *l = &table.log[writer - 1][i];

	*l = (struct log){ .slot = s, .version = version, .record = r };
	l->check = log_check(l);
}

/* Client 1 ends its PUT, if it does so in this case. */
static void ends(void)
{
	if (event != ENDS_BEFORE_CUT && event != AGAIN_BEFORE_CUT)
		return;
	others_go_on(NEW);
	others_go_on(LATER);
	if (event == AGAIN_BEFORE_CUT) {
		slot->version = odd_version(writer, slot->version);
		set_log(0, SLOT, slot->version, record_of(KEY, OLD));
		set_log(1, SLOT, odd_version(writer, 20), record_of(KEY, OLD));
		others_version = slot->version;
	}
	event = NOTHING;
}

void cut_off(unsigned client)
{
	before_request();
	if (client != writer && client == writer_of(slot->version))
		wrong("you cut off client %u, which has just taken the slot",
		      client);
	if (client != writer)
		wrong("you cut off client %u, and the slot is client %u's",
		      client, writer);
	ends();
	cut = true;
}

void read_logs(unsigned client, struct log to[2])
{
	before_request();
	if (client != writer)
		wrong("you READ the logs of client %u", client);
	if (logs_too)
		ends();
	copy(IBV_WR_RDMA_READ, own.log, table.log[client - 1], sizeof own.log);
	memcpy(to, own.log, sizeof own.log);
}

void write_log(const struct log *from)
{
	before_request();
	if (!ours_now && slot->version % 2 != 0 &&
	    memcmp(&from->record, &own.log[0].record, sizeof new) != 0 &&
	    memcmp(&from->record, &own.log[1].record, sizeof new) != 0)
		wrong("your log has a record that is in no log of client %u",
		      writer);
	own.log[0] = *from;
	copy(IBV_WR_RDMA_WRITE, own.log, table.log[YOU - 1], sizeof own.log[0]);
}

uint64_t swap_version(unsigned s, uint64_t from, uint64_t to)
{
	before_request();
	if (s != SLOT)
		wrong("you swap the version of slot %u", s);
	/* If it only looks, the others wait. */
	if (slot->version != from || from == to)
		return swap(&slot->version, from, to);
	if (event == OTHER_IS_FIRST) {
		others_go_on(NEW);
		others_go_on(LATER);
	} else if (event == OTHER_HAS_IT) {
		slot->version = others_version = odd_version(3, slot->version);
	}
	if (event != LATE)
		event = NOTHING;
	uint64_t found = swap(&slot->version, from, to);

	if (found != from)
		return found;
	if (others_version)
		wrong("you changed a slot that is at rest, or another's");
	if (!ours_now && to != odd_version(YOU, from))
		wrong("your swap set version %d of client %u, and %d of "
		      "client %u was due",
		      (int)count_of(to), writer_of(to), (int)count_of(from) + 2,
		      YOU);
	if (!ours_now)
		look_at_your_log(to);
	if (ours_now && to != count_of(from) + 1)
		wrong("you set version %d of client %u, and the next even one "
		      "was due",
		      (int)count_of(to), writer_of(to));
	if (ours_now && memcmp(&slot->record, &new, sizeof new) != 0)
		wrong("the version is even, and the record is not there");
	ours_now = !ours_now;
	return found;
}

void write_record(unsigned s, const struct record *from)
{
	before_request();
	if (s != SLOT || !ours_now)
		wrong("you WRITE into a slot that is not yours");
	own.record = *from;
	copy(IBV_WR_RDMA_WRITE, &own.record, &slot->record, sizeof own.record);
}

void judge(void)
{
	table_up();
	for (size_t turn = 0; turn < 2 * CASES; turn++) {
		size_t i = turn % CASES;

		logs_too = turn >= CASES;
		about("%s", cases[i].what);
		event = cases[i].event;
		writer = cases[i].writer ? cases[i].writer : 1;
		other_log = cases[i].other_log;
		cut = ours_now = late_done = false;
		others_version = 0;
		requests = 0;
		memset(&table, 0, sizeof table);
		/* It stopped in the middle: half of it is new. */
		new = record_of(KEY, NEW);
		slot->record = record_of(KEY, OLD);
		memcpy(&slot->record, &new, HEAD);
		slot->version = odd_version(writer, UINT64_C(1) << 40 | 40);
		its_log = (other_log != NULL) != logs_too;
		set_log(its_log, SLOT, slot->version, new);
		if (other_log && *other_log == 's')
			set_log(!its_log, SLOT + 1,
				cases[i].higher
					? odd_version(writer,
						      slot->version + 20)
					: slot->version,
				record_of(KEY + 1, OLD));
		else if (other_log)
			set_log(!its_log, SLOT, odd_version(writer, 20),
				record_of(KEY, OLD));

		rescue(SLOT, slot->version);
		if (!others_version && slot->version % 2 != 0)
			wrong("the version is still odd");
		if (!cut && !others_version)
			wrong("client %u can still write: its WRITE may come "
			      "at "
			      "any time",
			      writer);
	}
}
