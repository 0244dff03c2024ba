/* SPDX-License-Identifier: MIT */
/* Solution of exercise 11.2 - a client of another version */
#include <string.h>

#include "2_versions.h"

int choose_version(const uint8_t *data, size_t len, char name[NAME_LEN + 1])
{
	if (len < 5 || memcmp(data, "KV", 2) != 0)
		return 0;
	int lowest = data[2], highest = data[3];
	size_t letters = data[4];

	if (letters < 1 || letters > NAME_LEN || letters > len - 5)
		return 0;
	if (highest > NEWEST)
		highest = NEWEST;
	if (lowest < OLDEST)
		lowest = OLDEST;
	if (lowest > highest)
		return 0;
	memcpy(name, data + 5, letters);
	name[letters] = 0;
	return highest;
}
