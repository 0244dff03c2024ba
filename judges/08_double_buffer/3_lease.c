/* SPDX-License-Identifier: MIT */
/* drivers/08_double_buffer/3_lease.c - a writer that waits for leases. */
#include "leases.h"

const char *const schedules[][2] = {
	{ "the writer rests", "0" },
	{ "the writer begins after your lease", "001999000000" },
	{ "the writer flips before your lease", "030000099900" },
	{ "the writer flips after your lease", "003000099900" },
	{ NULL, NULL },
};
