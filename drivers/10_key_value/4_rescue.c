/* SPDX-License-Identifier: MIT */
/*
 * drivers/10_key_value/4_rescue.c - a slot of a client that does not go on, and
 * other clients that move at the same time.
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
} cases[] = {
	{ "a dead writer", NOTHING },
	{ "a slow writer", LATE },
	{ "a writer that ends as you cut it off", ENDS_BEFORE_CUT },
	{ "a writer that ends, and begins again", AGAIN_BEFORE_CUT },
	{ "another client is faster", OTHER_IS_FIRST },
	{ "another client has just taken the slot", OTHER_HAS_IT },
	{ "a dead writer with another number", NOTHING },
};

static struct slot *const slot = &table.slot[SLOT];
static enum event event;
static unsigned writer; /* its number: 1, and in the last case 3 */
static bool cut, ours_now, late_done;
static uint64_t others_version; /* what others left; 0: they did nothing */

static void before_request(void)
{
	one_more_request();
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

void cut_off(unsigned client)
{
	before_request();
	if (client != writer)
		wrong("you cut off client %u, and the slot is client %u's",
		      client, writer);
	if (event == ENDS_BEFORE_CUT || event == AGAIN_BEFORE_CUT) {
		others_go_on(NEW);
		others_go_on(LATER);
	}
	if (event == AGAIN_BEFORE_CUT) {
		table.log[writer - 1] = record_of(KEY, OLD);
		slot->version = odd_version(writer, slot->version);
		others_version = slot->version;
	}
	if (event == ENDS_BEFORE_CUT || event == AGAIN_BEFORE_CUT)
		event = NOTHING;
	cut = true;
}

void read_log(unsigned client, struct record *to)
{
	before_request();
	if (client != writer)
		wrong("you READ the log of client %u", client);
	copy(IBV_WR_RDMA_READ, &own.record, &table.log[client - 1],
	     sizeof own.record);
	*to = own.record;
}

void write_log(const struct record *from)
{
	before_request();
	own.record = *from;
	copy(IBV_WR_RDMA_WRITE, &own.record, &table.log[YOU - 1],
	     sizeof own.record);
}

uint64_t swap_version(unsigned s, uint64_t from, uint64_t to)
{
	before_request();
	if (s != SLOT)
		wrong("you swap the version of slot %u", s);
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
	if (!ours_now && memcmp(&table.log[YOU - 1], &table.log[writer - 1],
				sizeof own.record) != 0)
		wrong("if you die now, your log does not say what to write");
	if (ours_now && to != count_of(from) + 1)
		wrong("you set version %d of client %u, and the next even one "
		      "was due",
		      (int)count_of(to), writer_of(to));
	if (ours_now && memcmp(&slot->record, &table.log[writer - 1],
			       sizeof slot->record) != 0)
		wrong("the version is even, and the record is not there");
	ours_now = !ours_now;
	return found;
}

void write_record(unsigned s, const struct record *from)
{
	before_request();
	if (s != SLOT)
		wrong("you WRITE into slot %u", s);
	if (!ours_now)
		wrong("you WRITE into a slot that is not yours");
	own.record = *from;
	copy(IBV_WR_RDMA_WRITE, &own.record, &slot->record, sizeof own.record);
}

void judge(void)
{
	table_up();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		about("%s", cases[i].what);
		event = cases[i].event;
		writer = i + 1 < sizeof cases / sizeof cases[0] ? 1 : 3;
		cut = ours_now = late_done = false;
		others_version = 0;
		requests = 0;
		memset(&table, 0, sizeof table);
		/* Client 1 stopped in the middle: half of it is new. */
		struct record new = record_of(KEY, NEW);
		slot->record = record_of(KEY, OLD);
		memcpy(&slot->record, &new, HEAD);
		table.log[writer - 1] = new;
		slot->version = odd_version(writer, 40);

		rescue(SLOT, slot->version);
		if (others_version && slot->version != others_version)
			wrong("the version is not what others have left");
		if (!others_version && slot->version % 2 != 0)
			wrong("the version is still odd");
		if (!cut && !others_version)
			wrong("client %u can still write: its WRITE may come "
			      "at "
			      "any time",
			      writer);
	}
}
