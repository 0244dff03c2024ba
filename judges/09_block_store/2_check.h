/* SPDX-License-Identifier: MIT */
#include "judge.h"
#include "lesson.h" /* struct command, its operations and statuses, BLOCK, MAX_COUNT */

/* A part of the file, and the client that may use it. Block 0 of the volume is
 * at byte `begin` of the file. begin + blocks * BLOCK is at most INT64_MAX. */
struct volume {
	uint64_t begin; /* bytes */
	uint64_t blocks;
	bool read_only;
};

/* The exercise's. */
enum status look_at(const struct volume *v, const struct command *c,
		    uint64_t *at);
