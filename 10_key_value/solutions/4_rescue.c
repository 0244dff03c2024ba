/* SPDX-License-Identifier: MIT */
/* Solution of exercise 10.4 - somebody else's PUT */
#include "4_rescue.h"

void rescue(unsigned s, uint64_t odd)
{
	uint64_t mine = odd_version(YOU, odd);
	struct record r;

	cut_off(writer_of(odd));
	read_log(writer_of(odd), &r);
	write_log(&r);
	/* It is still that PUT, and now it is ours. */
	if (swap_version(s, odd, mine) != odd)
		return;
	write_record(s, &r);
	swap_version(s, mine, count_of(mine) + 1);
}
