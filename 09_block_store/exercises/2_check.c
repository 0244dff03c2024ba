/* SPDX-License-Identifier: MIT */
/*
 * Exercise 9.2 - repair: a check that lets things through    ** 25 minutes
 *
 * This server keeps several volumes in one file: parts of it, each for one client.
 * (struct volume: judges/09_block_store/2_check.h.) Volume v begins at byte v->begin
 * and has v->blocks blocks of BLOCK bytes. look_at() checks a command, whose
 * numbers are in our byte order already. It should return
 *   ST_UNKNOWN_OPERATION  if the operation is none of the four, or would change a
 *                         read-only volume;
 *   ST_OK                 for OP_FLUSH, whatever the other fields are;
 *   ST_BAD_COUNT          if count is 0 or more than MAX_COUNT;
 *   ST_NO_SUCH_BLOCK      if one of the blocks is beyond the end of the volume;
 *   ST_OK                 otherwise; then *at is the byte of the file where the
 *                         blocks begin.
 * If several are true, the first in this list counts. Some of the code is wrong.
 */
#include "2_check.h"

enum status look_at(const struct volume *v, const struct command *c,
		    uint64_t *at)
{
	uint32_t end = c->first + c->count; /* TODO 9.2 */

	if (c->operation > OP_FLUSH)
		return ST_UNKNOWN_OPERATION;
	if (v->read_only && c->operation == OP_WRITE)
		return ST_UNKNOWN_OPERATION;
	if (c->count == 0 || c->count > MAX_COUNT)
		return ST_BAD_COUNT;
	if (end >= v->blocks)
		return ST_NO_SUCH_BLOCK;
	*at = v->begin + (uint32_t)c->first * BLOCK;
	return ST_OK;
}
