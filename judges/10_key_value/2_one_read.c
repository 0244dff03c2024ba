/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/2_one_read.c - a table whose records change under the READs.
 *
 * before: a PUT in the middle of your READ: get() gave a torn record
 * hint1: When does the checksum of a record matter for this search, and
 * hint1: when does its key say enough? A key never leaves its slot.
 * hint1.zh: 在这次查找中，什么时候要看记录的校验和，什么时候看键就够了？键从不
 * hint1.zh: 离开它的槽位。
 * hint2: For each slot: never used, another key, or ours? Only for the
 * hint2: last one compare checksum(to) with to->check, and READ the same
 * hint2: slot again if they differ.
 * hint2.zh: 每个槽位先分清：从未用过、属于别的键，还是要找的？只有最后一种才比
 * hint2.zh: 较 checksum(to) 和 to->check；不同，就再 READ 同一个槽位。
 */
#include "2_one_read.h"

#include "slots.h"

enum { AT = 5, VALUE_NOW = 1000, VALUE_NEXT = 2000 };
/* More than 32 bits; a search for it begins at AT, and for the lower half, too. */
static const uint64_t KEY = (UINT64_C(1) << 40) + AT;

static int reads;
static bool put_in_the_middle; /* of the next READ */
static uint64_t next;          /* its value; 0: a DELETE */
static int half_until;         /* half a record is there for so many READs */

static struct record with(uint64_t key, uint64_t value)
{
	struct record r = record_of(key, value);

	for (unsigned i = 0; i < VALUE; i++)
		r.value[i] += i; /* no two words are equal */
	r.check = checksum(&r);
	return r;
}

/* The halves of a record are READ one after the other. A writer WRITEs them so. */
static void put_half(struct record *to, int half, uint64_t key, uint64_t value)
{
	struct record r = with(key, value);
	size_t from = half * HEAD;

	memcpy((char *)to + from, (char *)&r + from,
	       half ? sizeof r - HEAD : HEAD);
}

void fetch_record(unsigned s, struct record *to)
{
	if (s >= SLOTS)
		wrong("there is no slot %u", s);
	one_more_request();
	reads++;
	struct record *from = &table.slot[s].record;

	if (reads <= half_until)
		requests = 0; /* that it is torn is not your fault */
	else if (half_until > 0 && from->key == KEY)
		*from = with(KEY, VALUE_NEXT);
	copy(IBV_WR_RDMA_READ, &own.record, from, HEAD);
	if (put_in_the_middle && from->key == KEY) {
		*from = with(KEY, next);
		put_in_the_middle = false;
	}
	copy(IBV_WR_RDMA_READ, (char *)&own.record + HEAD, (char *)from + HEAD,
	     sizeof *from - HEAD);
	*to = own.record;
}

static void start(const char *what)
{
	about("%s", what);
	memset(&table, 0, sizeof table);
	requests = reads = half_until = 0;
	put_in_the_middle = false;
	next = VALUE_NEXT;
}

static void put(unsigned s, uint64_t key, uint64_t value)
{
	table.slot[s].record = with(key, value);
}

/* value 0: not there */
static void expect(uint64_t key, uint64_t value, int most)
{
	struct record r;

	memset(&r, 0xff, sizeof r);
	bool there = get(key, &r);
	if (there != (value != 0))
		wrong("%s", there ? "get() found a key that is not there"
				  : "get() did not find the key");
	if (there && r.key != key)
		wrong("get() gave the record of key %d", (int)r.key);
	for (unsigned i = 0; there && i < VALUE; i++)
		if (r.value[i] != value + i)
			wrong("get() gave a torn record");
	if (reads > most)
		wrong("right, but %d READs: %d would do", reads, most);
}

void judge(void)
{
	table_up();

	start("the key is in its first slot");
	put(5, KEY, VALUE_NOW);
	expect(KEY, VALUE_NOW, 1);

	start("a PUT in the middle of your READ");
	put(5, KEY, VALUE_NOW);
	put_in_the_middle = true;
	expect(KEY, VALUE_NEXT, 2);

	start("a slow PUT");
	put(5, KEY, VALUE_NOW);
	put_half(&table.slot[5].record, 0, KEY, VALUE_NEXT);
	half_until = 80;
	expect(KEY, VALUE_NEXT, 81);

	start("a PUT, of which one word is here");
	put(5, KEY, VALUE_NOW);
	table.slot[5].record.value[VALUE - 2] = VALUE_NEXT + VALUE - 2;
	half_until = 3;
	expect(KEY, VALUE_NEXT, 4);

	start("a slow PUT, behind another key");
	put(5, KEY + SLOTS, VALUE_NOW);
	put(6, KEY, VALUE_NOW);
	put_half(&table.slot[6].record, 0, KEY, VALUE_NEXT);
	half_until = 2; /* of which one is for slot 5 */
	expect(KEY, VALUE_NEXT, 3);

	start("another key is in its first slot");
	put(5, AT, VALUE_NOW);
	put(6, KEY, VALUE_NOW);
	expect(KEY, VALUE_NOW, 2);

	start("the key was never inserted");
	put(5, KEY + SLOTS, VALUE_NOW);
	expect(KEY, 0, 2);

	start("the first slot was never used");
	put(6, KEY + SLOTS + 1, VALUE_NOW);
	expect(KEY, 0, 1);

	start("the key is deleted");
	put(5, KEY, 0);
	expect(KEY, 0, 1);

	start("a DELETE in the middle of your READ");
	put(5, KEY, VALUE_NOW);
	put_in_the_middle = true;
	next = 0;
	expect(KEY, 0, 2);

	start("a deleted key on the way");
	put(5, KEY + SLOTS, 0);
	put(6, KEY, VALUE_NOW);
	expect(KEY, VALUE_NOW, 2);

	start("another key on the way, half written");
	put(5, KEY + SLOTS, VALUE_NOW);
	put_half(&table.slot[5].record, 0, KEY + SLOTS, VALUE_NEXT);
	put(6, KEY, VALUE_NOW);
	expect(KEY, VALUE_NOW, 2);

	start("the key is behind the end of the table");
	put(SLOTS - 1, SLOTS - 1, VALUE_NOW);
	put(0, 2 * SLOTS - 1, VALUE_NEXT);
	expect(2 * SLOTS - 1, VALUE_NEXT, 2);

	start("a full table, and the key is in the last slot of the search");
	for (unsigned s = 0; s < SLOTS; s++)
		put(s, s == AT - 1 ? KEY : 100 + s, VALUE_NOW);
	expect(KEY, VALUE_NOW, SLOTS);

	start("a full table without the key");
	for (unsigned s = 0; s < SLOTS; s++)
		put(s, 100 + s, VALUE_NOW);
	expect(KEY, 0, SLOTS);

	start("a very slow PUT");
	put(5, KEY, VALUE_NOW);
	put_half(&table.slot[5].record, 0, KEY, VALUE_NEXT);
	half_until = 120; /* who pauses has 20 s for it */
	expect(KEY, VALUE_NEXT, 121);
}
