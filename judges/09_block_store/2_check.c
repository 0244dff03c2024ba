/* SPDX-License-Identifier: MIT */
/*
 * judges/09_block_store/2_check.c - commands, good ones and hostile ones.
 *
 * before: OP_READ, first 255, count 1, a volume of 256 blocks: ST_NO_SUCH_BLOCK, and it should be ST_OK
 * hint1: Which of these numbers come from the client? What is the largest
 * hint1: that each can be, and in which type is each sum and product
 * hint1: computed?
 * hint1.zh: 这些数中，哪些来自客户端？每个最大可能是多少，每个和、每个积用什么
 * hint1.zh: 类型计算？
 * hint2: Compare one number at a time with what is left: first with
 * hint2: blocks, then count with blocks - first. When all is checked, 64
 * hint2: bits are enough for the product.
 * hint2.zh: 一次拿一个数，和剩下的量比较：先是 first 和 blocks，再是 count 和
 * hint2.zh: blocks - first。全部检查过之后，乘积用 64 位就够了。
 */
#include <stdio.h>

#include "2_check.h"

static const char *const names[] = { "ST_OK",        "ST_NO_SUCH_BLOCK",
				     "ST_BAD_COUNT", "ST_UNKNOWN_OPERATION",
				     "ST_BAD_TAG",   "ST_IO_ERROR" };
static const char *const operations[] = { "operation 0", "OP_READ", "OP_WRITE",
					  "OP_WRITE_EARLY", "OP_FLUSH" };
static const struct volume small = { .begin = 1 << 20, .blocks = 256 };
static const struct volume locked = { .begin = 0,
				      .blocks = 10,
				      .read_only = true };
static const struct volume tiny = { .begin = 8192, .blocks = 3 };
static const struct volume huge = { .begin = 4096,
				    .blocks = INT64_MAX / BLOCK - 1 };

static const struct volume far_away = { .begin = (5ULL << 40) + 512,
					.blocks = 10 };
static const struct volume empty = { .begin = 8192, .blocks = 0 };

/* With more bits than any sum or product here needs. */
static enum status right(const struct volume *v, const struct command *c,
			 uint64_t *at)
{
	unsigned __int128 end = (unsigned __int128)c->first + c->count;

	if (c->operation < OP_READ || c->operation > OP_FLUSH)
		return ST_UNKNOWN_OPERATION;
	if (v->read_only &&
	    (c->operation == OP_WRITE || c->operation == OP_WRITE_EARLY))
		return ST_UNKNOWN_OPERATION;
	if (c->operation == OP_FLUSH)
		return ST_OK;
	if (c->count == 0 || c->count > MAX_COUNT)
		return ST_BAD_COUNT;
	if (end > v->blocks)
		return ST_NO_SUCH_BLOCK;
	*at = v->begin + c->first * BLOCK;
	return ST_OK;
}

static void compare_with(const struct volume *v, uint32_t operation,
			 uint64_t first, uint32_t count)
{
	struct command c = { .operation = operation,
			     .tag = TAGS, /* others look at it */
			     .first = first,
			     .count = count };
	uint64_t at = 7, want = 7;
	enum status expected = right(v, &c, &want);
	enum status status = look_at(v, &c, &at);
	char what[24];

	snprintf(what, sizeof what, "operation %u", operation);
	about("%s, first %llu, count %u, %s of %llu blocks",
	      operation <= OP_FLUSH ? operations[operation] : what,
	      (unsigned long long)first, count,
	      v->read_only ? "a read-only volume" : "a volume",
	      (unsigned long long)v->blocks);
	if (status != expected)
		wrong("%s, and it should be %s",
		      status <= ST_IO_ERROR ? names[status] : "no status",
		      names[expected]);
	if (expected == ST_OK && operation != OP_FLUSH && at != want)
		wrong("at is %llu, and it should be %llu",
		      (unsigned long long)at, (unsigned long long)want);
}

void judge(void)
{
	static const struct volume *const volumes[] = { &small,    &locked,
							&tiny,     &huge,
							&far_away, &empty };
	static const uint64_t edge[] = { 0,          1,          1ULL << 32,
					 1ULL << 52, 1ULL << 63, UINT64_MAX };

	compare_with(&small, OP_READ, 0, 1);
	compare_with(&small, OP_READ, 255, 1);
	compare_with(&small, OP_FLUSH, 0, 0);
	compare_with(&locked, OP_FLUSH, 0, 0);
	for (size_t v = 0; v < 6; v++)
		for (uint32_t operation = 0; operation <= OP_FLUSH + 1;
		     operation++)
			for (uint32_t count = 0; count < 20; count++)
				for (size_t e = 0; e < 6; e++)
					for (uint64_t k = 0; k < 20; k++) {
						uint64_t n = count < 10
								     ? count
								     : -count;
						compare_with(volumes[v],
							     operation,
							     edge[e] + k,
							     (uint32_t)n);
						compare_with(
							volumes[v], operation,
							volumes[v]->blocks -
								10 + k,
							(uint32_t)n);
					}
	/* OP_READ in 3 bits, in 8, in a shift */
	for (int bit = 3; bit < 32; bit++)
		compare_with(&small, 1u << bit | OP_READ, 0, 1);
	compare_with(&small, UINT32_MAX, 0, 1);
	compare_with(&small, OP_READ, 0, 257); /* 1 in 8 bits, in 16 */
	compare_with(&huge, OP_READ, 0, 65537);
}
