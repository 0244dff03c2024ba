/* SPDX-License-Identifier: MIT */
/* judges/looks.h - when a look into the CQ may find something. */
#ifndef LOOKS_H
#define LOOKS_H

#include "judge.h"

/* For lets_find: a few looks are no wait, but with pauses they are. Who has armed the CQ
 * may sleep behind one. */
static inline bool patient_look(void)
{
	return seen.armed || seen.in_vain > 20 ||
	       (seen.in_vain > 1 && now_ms() - seen.since > 300);
}

#endif
