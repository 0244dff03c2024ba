/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.6 - each number once, whatever breaks */
#include "6_cut.h"

void deliver(const uint32_t *numbers, int n)
{
	uint64_t sum = 0; /* what is in the word for certain */

	for (int i = 0; i < n; i++) {
		while (!add(numbers[i])) {
			reconnect();
			if (read_word() != sum)
				break; /* it was added */
		}
		sum += numbers[i];
	}
}
