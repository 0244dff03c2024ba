/* SPDX-License-Identifier: MIT */
/* docs/illustrated/illustrated.h - what both sides must agree on. */
#ifndef ILLUSTRATED_H
#define ILLUSTRATED_H

#include <stdint.h>

enum { LESSON = 100 }; /* none of them */

struct region {
	char text[32];
	uint64_t counter;
	char inbox[24]; /* for SENDs */
};

#define FIRST "hello"
#define SECOND "is anybody there?"

#endif
