/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/4_lease_ends.c - a writer that waits for a while.
 *
 * before: your lease ends in the middle of your READ: you gave back what was not yours
 * hint1: How do you know which epoch your lease is of? Why can
 * hint1: COMPARE_AND_SWAP fail although the epoch is still the same?
 * hint1.zh: 怎么知道你的租约属于哪个 epoch？epoch 没有变，COMPARE_AND_SWAP 为什
 * hint1.zh: 么也可能失败？
 * hint2: add_to_lease() returns the epoch. Give back by swap_lease(), so
 * hint2: that nothing happens in another epoch. If only the number of
 * hint2: readers differs, try again.
 * hint2.zh: add_to_lease() 返回 epoch。用 swap_lease() 归还，就不会影响另一个
 * hint2.zh: epoch。如果只是读者数不同，就再试一次。
 */
#include "leases.h"

const bool lease_ends = true;
const char *const schedules[][2] = {
	{ "the writer waits for your lease", "001999900000" },
	{ "the writer flips before your lease", "030000099900" },
	{ "the writer flips before each lease that you move to",
	  "030030030030030030000000" },
	{ "another reader comes while you READ", "000R00000000" },
	{ "your lease ends in the middle of your READ", "0000E0000000" },
	{ "your lease ends, and another reader comes", "0000ER000000" },
	{ "the leases end when you give yours back again", "00000RE00000" },
	{ "a flip, and another reader comes before you give it back",
	  "030R00000000" },
	{ "the writer goes on before your second lease", "030200000000" },
	{ "a flip, and your lease ends before you give it back",
	  "030E00000000" },
	{ "the writer flips before your third request", "003000099900" },
	{ "the leases end before your third request", "00E000000000" },
	{ "other readers come before each of your tries",
	  "00000RRRRRRRRRRRRRRRRRRRR0000" },
	{ "another reader goes before you do", "0R000L000000" },
	{ "your lease ends before your READ", "000E00000000" },
	{ "your lease ends, and the writer is half done in your buffer",
	  "001H00000000" },
	{ "the writer is in the middle when you come, and goes on",
	  "302000000000" },
	{ "2^32 generations before your first request and your lease",
	  "WW00000000000000" },
	{ "your lease ends twice", "0000EE000000" },
	{ "the leases end when you give yours back again, and epoch 0 begins",
	  "Z0000RE00000000000000000000000000000" },
	{ "your first eight leases end",
	  "0000E00000E00000E00000E00000E00000E00000E00000E00000" },
	{ NULL, NULL },
};
