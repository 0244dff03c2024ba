/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum {
	AT_ONCE,      /* both are posted at once, one after the other */
	FENCE_FIRST,  /* the same, and the first has the fence */
	FENCE_SECOND, /* the same, and the second has the fence */
	COMPLETION,   /* the second is posted when the first has completed */
};

/* The exercise's. */
extern const int publish, release, follow;
