/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 2.4 must agree on. */
#ifndef WINDOW_H
#define WINDOW_H

#include <endian.h>
#include <stdint.h>

enum { KEYS = 2, WINDOW = 3000 };

/* The server's SEND: "write that much there". Big endian. */
struct offer {
	uint64_t addr;
	uint32_t rkey, len;
};

#endif
