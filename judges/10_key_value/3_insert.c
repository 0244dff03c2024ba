/* SPDX-License-Identifier: MIT */
/*
 * judges/10_key_value/3_insert.c - inserts, while others do the same.
 *
 * before: the key is there, behind a deleted one: you take the slot of key 21 from it
 * hint1: There are two faults. In which slot will the next search for
 * hint1: this key end? And if change() returns false: what may be in this
 * hint1: slot now?
 * hint1.zh: 有两处错误。下一次查找这个键，会停在哪个槽位？change() 返回 false
 * hint1.zh: 时，这个槽位里现在可能是什么？
 * hint2: Go on to the next slot only if this slot belongs to another key.
 * hint2: After a change that failed, look at the same slot again.
 * hint2.zh: 槽位属于别的键，才去下一个槽位。修改失败之后，再看同一个槽位。
 */
#include "3_insert.h"

#include "slots.h"

enum { AT = 5, OTHER = AT + SLOTS, THEIRS = 2000 };
/* Both have more than 32 bits; a search for the key begins at AT. */
static const uint64_t KEY = (UINT64_C(1) << 40) + OTHER,
		      MINE = (UINT64_C(1) << 40) + 1000;

/* What others do just before your second look() or your first change(), whichever is
 * first: a slot, a key, a value. */
static struct move {
	unsigned s;
	uint64_t key, value;
} moves[3];
static int n_moves, changed, looks;
/* So often others insert and delete your key in that slot before a change. */
static int quicker;
static unsigned quicker_at;

static void others_move(void)
{
	for (int i = 0; i < n_moves; i++)
		others_put(moves[i].s, moves[i].key, moves[i].value);
	n_moves = 0;
}

struct seen_slot look(unsigned s)
{
	if (s >= SLOTS)
		wrong("there is no slot %u", s);
	one_more_request();
	if (++looks == 2)
		others_move();
	copy(IBV_WR_RDMA_READ, &own.word, &table.slot[s].version, 8);
	copy(IBV_WR_RDMA_READ, &own.record, &table.slot[s].record,
	     sizeof own.record);
	return (struct seen_slot){ .version = own.word,
				   .key = own.record.key,
				   .live = own.record.live != 0 };
}

bool change(unsigned s, uint64_t version, uint64_t key, uint64_t value)
{
	if (s >= SLOTS)
		wrong("there is no slot %u", s);
	one_more_request();
	others_move();
	if (quicker-- > 0) {
		others_put(quicker_at, KEY, 0);
		requests = 0; /* that the change fails is not your fault */
	}
	struct slot *slot = &table.slot[s];
	uint64_t odd = count_of(version | 1) | UINT64_C(1) << 56;

	if (swap(&slot->version, version, odd) != version)
		return false;
	if (slot->record.key != 0 && slot->record.key != key)
		wrong("you take the slot of key %d from it",
		      (int)slot->record.key);
	own.record = record_of(key, value);
	copy(IBV_WR_RDMA_WRITE, &own.record, &slot->record, sizeof own.record);
	swap(&slot->version, odd, count_of(odd) + 1);
	changed++;
	return true;
}

static void start(const char *what)
{
	about("%s", what);
	memset(&table, 0, sizeof table);
	for (unsigned s = 0; s < SLOTS; s++)
		table.slot[s].version = 1ULL << 40;
	requests = n_moves = changed = looks = quicker = 0;
}

static void then(unsigned s, uint64_t key, uint64_t value)
{
	moves[n_moves++] = (struct move){ .s = s, .key = key, .value = value };
}

/* inserts: will the key be yours? s: its slot in the end; SLOTS: none. */
static void expect(bool inserts, unsigned s)
{
	bool said = insert(KEY, MINE);
	unsigned at = SLOTS;

	for (unsigned i = 0; i < SLOTS; i++) {
		if (table.slot[i].record.key != KEY)
			continue;
		if (at != SLOTS)
			wrong("the key is in two slots");
		at = i;
	}
	if (at != s && at == SLOTS)
		wrong("the key is in no slot");
	if (at != s)
		wrong("the key is in slot %u, and a search ends in slot %u", at,
		      s);
	if (changed > 1 || (changed && !inserts))
		wrong("the key was there, and you have changed it");
	if (s < SLOTS && !table.slot[s].record.live)
		wrong("the key is still deleted");
	if (inserts && table.slot[s].record.value[0] != MINE)
		wrong("the key has another value");
	if (said != inserts)
		wrong("insert() returned %s", said ? "true" : "false");
}

void judge(void)
{
	table_up();

	start("an empty table");
	expect(true, 5);

	start("the key is there");
	others_put(5, KEY, THEIRS);
	expect(false, 5);

	start("another key is in the first slot");
	others_put(5, OTHER, THEIRS);
	expect(true, 6);

	start("the key is deleted");
	others_put(5, KEY, 0);
	expect(true, 5);

	start("the key is deleted, behind another one");
	others_put(5, OTHER, THEIRS);
	others_put(6, KEY, 0);
	expect(true, 6);

	start("the key is there, behind a deleted one");
	others_put(5, OTHER, 0);
	others_put(6, KEY, THEIRS);
	expect(false, 6);

	start("a deleted key is in the first slot");
	others_put(5, OTHER, 0);
	expect(true, 6);

	start("somebody inserts the same key before your change");
	then(5, KEY, THEIRS);
	expect(false, 5);

	start("somebody inserts another key before your change");
	then(5, OTHER, THEIRS);
	expect(true, 6);

	start("somebody inserts both before your change");
	then(5, OTHER, THEIRS);
	then(6, KEY, THEIRS);
	expect(false, 6);

	start("somebody inserts the deleted key before your change");
	others_put(5, KEY, 0);
	then(5, KEY, THEIRS);
	expect(false, 5);

	start("somebody inserts the key and deletes it before your change");
	then(5, KEY, THEIRS);
	then(5, KEY, 0);
	expect(true, 5);

	start("others insert and delete the key before three of your changes");
	quicker = 3, quicker_at = AT;
	expect(true, 5);

	start("the last slot of the search is free");
	for (unsigned s = 0; s < SLOTS; s++)
		if (s != AT - 1)
			others_put(s, 100 + s, THEIRS);
	quicker = 1, quicker_at = AT - 1;
	expect(true, AT - 1);

	start("a full table");
	for (unsigned s = 0; s < SLOTS; s++)
		others_put(s, 100 + s, s % 2 ? THEIRS : 0);
	expect(false, SLOTS);

	start("others insert and delete the key before 200 of your changes");
	quicker = 200, quicker_at = AT;
	expect(true, 5);
}
