/* SPDX-License-Identifier: MIT */
/* What the judges of this lesson share: memory, and what a watch can tell. */
#include <string.h>

#include "looks.h"

enum { MEMORY = 2048 };

static struct duo d;
static char own[MEMORY], theirs[MEMORY];
static struct ibv_mr *from, *to;

static inline void open_regions(void)
{
	from = open_memory(&d.you, own, MEMORY);
	to = open_memory(&d.peer, theirs, MEMORY);
}

static inline void open_both(void)
{
	duo_up(&d);
	open_regions();
}

/* For a watch. */
static inline void looks(void)
{
	if (seen.found == seen.signaled && seen.in_vain > A_WAIT)
		wrong("you wait for a completion, and none will come");
}

/* Is all polled that was asked for? */
static inline void returned(void)
{
	if (seen.found < seen.signaled)
		wrong("it returned, and a completion was not polled");
}
