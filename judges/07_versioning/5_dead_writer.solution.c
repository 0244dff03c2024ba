/* SPDX-License-Identifier: MIT */
/* Solution of exercise 7.5 - a writer that died */
#include "5_dead_writer.h"

void rescue(void)
{
	uint64_t version = look();

	for (int same = 1; same < PATIENCE && version % 2 != 0; same++) {
		uint64_t now = look();

		if (now != version)
			same = 0;
		version = now;
	}
	if (version % 2 == 0)
		return;
	cut_off();
	version = look(); /* the last look before that may be wrong now */
	if (version % 2 == 0)
		return;
	restore();
	set_version(version + 1); /* one that no reader has seen */
}
