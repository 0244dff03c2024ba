/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/3_lease.c - a writer that waits for leases.
 *
 * before: the writer rests: you READ buffer 0 without its lease
 * hint1: Time passes between fetch_generation() and the lease. Is it
 * hint1: still the buffer that you wanted? And if not, who waits for you
 * hint1: now?
 * hint1.zh: 从 fetch_generation() 到取得租约，要过一段时间。这时租约管的还是你
 * hint1.zh: 要的缓冲区吗？如果不是，现在谁在等你？
 * hint2: Look at the generation again when you have the lease. If it has
 * hint2: changed, give the lease back and begin again. Give the lease
 * hint2: back after the buffer, too.
 * hint2.zh: 取得租约后，再看一次世代号。变了，就归还租约，从头再来。读完缓冲
 * hint2.zh: 区，也要归还租约。
 */
#include "leases.h"

const bool lease_ends = false;
const char *const schedules[][2] = {
	{ "the writer rests", "0" },
	{ "the writer begins after your lease", "001999000000" },
	{ "the writer flips before your lease", "030000099900" },
	{ "the writer flips after your lease", "003000099900" },
	{ "two flips before your lease", "040000000000" },
	{ "the writer flips before each lease that you move to",
	  "030030030030030030000000" },
	{ "the writer flips before each of your leases",
	  "0300030003000300030003000300030003000300000000000000" },
	{ "the writer goes on before your second lease", "0302000000000000" },
	{ "another reader comes while you READ", "0000R00000000000" },
	{ "another reader is in both buffers all the time",
	  "R000000000000000" },
	{ "the writer is in the middle when you come, and goes on",
	  "302000000000" },
	{ "2^32 generations before your first request and your lease",
	  "WW00000000000000" },
	{ NULL, NULL },
};
