/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 4.3 must agree on. */
#ifndef HYBRID_H
#define HYBRID_H

#include <endian.h>
#include <stdint.h>

enum { PIECES = 3, PIECE = 9000 };

/* The server's SEND: "write that much there". Big endian. */
struct offer {
	uint64_t addr;
	uint32_t rkey, len;
};

#endif
