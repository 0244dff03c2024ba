/* SPDX-License-Identifier: MIT */
/*
 * tests/torn.c - does the checksum of lesson 10 see each torn record?
 *
 * usage: torn PAIRS   so many pairs of records for each kind of value
 *
 * A pair is an old record and a new one, of the same key. It is torn after each word: up
 * to there it is new, behind it old, and its checksum is that of the one or the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../10_key_value/lesson.h"

enum { WORDS = offsetof(struct record, check) / 8 };

static uint64_t state = 1; /* xorshift64 (Marsaglia, 2003) */

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t bits(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof u);
	return u;
}

/* ---- what people keep: one word, old and new; i: which word of the value ---- */

struct word {
	uint64_t old, new;
};

static struct word negated(int i)
{
	double d = (double)(int64_t)any() / 1e9;

	(void)i;
	return (struct word){ bits(d), bits(-d) };
}

static struct word negated_equal(int i)
{
	static double d;

	if (i == 0)
		d = (double)(any() % 1000);
	return (struct word){ bits(d), bits(-d) };
}

static struct word some_negated(int i)
{
	double d = i + 0.5;

	return (struct word){ bits(d), bits(any() % 2 ? d : -d) };
}

static struct word doubled(int i)
{
	double d = (double)(any() % 100000) / 100;

	(void)i;
	return (struct word){ bits(d), bits(2 * d) };
}

static struct word pointer(int i)
{
	uint64_t heap = 0x7f1200000000 + (any() % 4 << 21);

	(void)i;
	return (struct word){ heap + any() % 4096 * 16,
			      heap + any() % 4096 * 16 };
}

static struct word next_pointer(int i)
{
	static uint64_t at;

	if (i == 0)
		at = 0x555500000000 + any() % 65536 * 64;
	return (struct word){ at, at + 64 };
}

static struct word small(int i)
{
	(void)i;
	return (struct word){ any() % 10, any() % 10 };
}

static struct word counted(int i)
{
	static uint64_t n;

	if (i == 0)
		n = any() % 1000000;
	return (struct word){ n, n + 1 };
}

static struct word signs(int i)
{
	int64_t n = i + (int64_t)(any() % 3);

	return (struct word){ (uint64_t)n, (uint64_t)-n };
}

static struct word one_bit(int i)
{
	static uint64_t flip;
	uint64_t word = any();

	if (i == 0)
		flip = UINT64_C(1) << any() % 64;
	return (struct word){ word, word ^ (any() % 2 ? flip : 0) };
}

static struct word inserted(int i)
{
	static uint64_t n;

	if (i == 0)
		n = any();
	return (struct word){ 0, n };
}

static const struct {
	const char *name;
	struct word (*of)(int i);
} kinds[] = {
	{ "doubles x and -x", negated },
	{ "equal doubles x and -x", negated_equal },
	{ "doubles, some x and -x", some_negated },
	{ "doubles x and 2x", doubled },
	{ "pointers", pointer },
	{ "a pointer and the next", next_pointer },
	{ "small integers", small },
	{ "n and n + 1", counted },
	{ "small integers n and -n", signs },
	{ "the same bit in some words", one_bit },
	{ "nothing and equal words", inserted },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- tearing ----------------------------------------------------------- */

/* What this lesson had once: FNV-1a by words. It must not pass. */
static uint64_t fnv_by_words(const struct record *r)
{
	const uint64_t *word = &r->key;
	uint64_t sum = 0xcbf29ce484222325;

	for (int i = 0; i < WORDS; i++)
		sum = (sum ^ word[i]) * 0x100000001b3;
	return sum;
}

/* Tears pairs of one kind; adds what was torn and what was accepted. */
static void tear(uint64_t (*sum)(const struct record *), int kind, long pairs,
		 long *torn, long *accepted)
{
	for (long n = 0; n < pairs; n++) {
		struct record old = { .key = 1 + any() % 100, .live = 1 },
			      new = old, r;
		for (int i = 0; i < VALUE; i++) {
			struct word w = kinds[kind].of(i);
			old.value[i] = w.old;
			new.value[i] = w.new;
		}
		old.live = kinds[kind].of != inserted;
		uint64_t old_sum = sum(&old), new_sum = sum(&new);
		r = old;
		for (int i = 1; i < WORDS; i++) {
			((uint64_t *)&r)[i] = ((const uint64_t *)&new)[i];
			if (memcmp(&r, &old, sizeof r) == 0 ||
			    memcmp(&r, &new, sizeof r) == 0)
				continue;
			uint64_t found = sum(&r);
			*torn += 1;
			*accepted += found == old_sum || found == new_sum;
		}
	}
}

/* ---- what the polynomial promises -------------------------------------- */

/* Equal words: the first m of them are new. The change of the checksum is a linear
 * function of old ^ new. If its rank is 64, only old == new changes nothing. */
static int rank_of_equal_words(int m)
{
	struct record zero = { .key = 1, .live = 1 };
	uint64_t row[64], none = checksum(&zero);
	int rank = 0;

	for (int b = 0; b < 64; b++) {
		struct record r = zero;
		for (int i = 0; i < m; i++)
			r.value[i] = UINT64_C(1) << b;
		row[b] = checksum(&r) ^ none;
	}
	for (int bit = 0; bit < 64; bit++) {
		int pivot = rank;
		while (pivot < 64 && !(row[pivot] >> bit & 1))
			pivot++;
		if (pivot == 64)
			continue;
		uint64_t found = row[pivot];
		row[pivot] = row[rank];
		for (int i = rank + 1; i < 64; i++)
			if (row[i] >> bit & 1)
				row[i] ^= found;
		rank++;
	}
	return rank;
}

static bool test(bool good, const char *name)
{
	printf("%s %s\n", good ? "ok" : "not ok", name);
	return good;
}

int main(int argc, char **argv)
{
	long pairs = argc == 2 ? strtol(argv[1], NULL, 10) : 1000, all = 0;
	static uint64_t block[512];
	bool good = true;
	char name[128];

	/* crypto/testmgr.h of Linux 6.1, crc64_rocksoft_tv_template */
	good &= test(crc64(block, sizeof block) == 0x6482d367eb22b64e,
		     "CRC-64 of NVMe: 4096 bytes 0x00");
	memset(block, 0xff, sizeof block);
	good &= test(crc64(block, sizeof block) == 0xc0ddba7302eca3ac,
		     "CRC-64 of NVMe: 4096 bytes 0xff");

	int least = 64;
	for (int m = 1; m < VALUE; m++)
		if (rank_of_equal_words(m) < least)
			least = rank_of_equal_words(m);
	snprintf(name, sizeof name,
		 "equal words: no mixture has the checksum of either (rank %d)",
		 least);
	good &= test(least == 64, name);

	for (int k = 0; k < KINDS; k++) {
		long torn = 0, accepted = 0;

		tear(checksum, k, pairs, &torn, &accepted);
		snprintf(name, sizeof name, "%s: %ld torn, %ld accepted",
			 kinds[k].name, torn, accepted);
		good &= test(torn > 0 && accepted == 0, name);
		all += torn;
	}
	printf("# %ld torn records\n", all);

	long torn = 0, accepted = 0;
	tear(fnv_by_words, 0, 100, &torn, &accepted);
	snprintf(name, sizeof name,
		 "a checksum that does not see signs is noticed: it accepts "
		 "%ld of %ld",
		 accepted, torn);
	good &= test(accepted > 0, name);
	return !good;
}
