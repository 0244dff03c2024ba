/* SPDX-License-Identifier: MIT */
#include "judge.h"
#include "lesson.h" /* struct log, log_check(), count_of(), writer_of() */

enum { YOU = 2 }; /* your number */

/* The server takes this client's connection away: it can change nothing more. */
void cut_off(unsigned client);
/* A READ of its two logs. */
void read_logs(unsigned client, struct log to[2]);
/* A WRITE of one of your logs, which nobody needs. */
void write_log(const struct log *from);
/* COMPARE_AND_SWAP of the version of slot s. Returns what it was before. */
uint64_t swap_version(unsigned s, uint64_t from, uint64_t to);
/* A WRITE of the record of slot s. */
void write_record(unsigned s, const struct record *from);

/* The next odd version, of this client. */
static inline uint64_t odd_version(unsigned client, uint64_t version)
{
	return ((count_of(version) + 1) | 1) | (uint64_t)client << 56;
}

/* The exercise's. */
void rescue(unsigned s, uint64_t odd);
