/* SPDX-License-Identifier: MIT */
/* Solution of exercise 4.1 - a message of 32 bits */
#include <arpa/inet.h>

#include "1_word.h"

uint32_t pack(enum type type, uint32_t value)
{
	return htonl((uint32_t)type << 28 | value);
}

bool unpack(uint32_t imm_data, enum type *type, uint32_t *value)
{
	uint32_t word = ntohl(imm_data);

	*type = word >> 28;
	*value = word & 0xfffffff;
	return *type >= DATA && *type <= STOP;
}
