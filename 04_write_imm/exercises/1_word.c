/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.1 - repair: a message of 32 bits                * 10 minutes
 *
 * An immediate has to carry a type and a value. On the wire its first 4 bits are
 * the type, the other 28 bits the value, in network order. So DATA 5 is these
 * four bytes: 10 00 00 05.
 *
 *	enum type { DATA = 1, PROGRESS = 2, STOP = 3 };
 *
 * pack() makes what goes into wr.imm_data. The value is below 2^28. unpack() gets
 * wc.imm_data; it returns false for a type that is not in enum type, and then
 * *type and *value do not matter.
 *
 * Both work, as long as they only talk to each other on one kind of CPU. Repair
 * them: on any CPU, the four bytes are as above. The judge compares the bytes.
 */
#include <arpa/inet.h>

#include "1_word.h"

uint32_t pack(enum type type, uint32_t value)
{
	return (uint32_t)type << 28 | value; /* TODO 4.1 */
}

bool unpack(uint32_t imm_data, enum type *type, uint32_t *value)
{
	*type = imm_data >> 28;
	*value = imm_data & 0xfffffff;
	return true;
}
