/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 4.4 must agree on. */
#ifndef CREDITS_H
#define CREDITS_H

enum {
	SLOTS = 4,
	SLOT = 5000, /* bytes, more than a packet holds */
	MESSAGES = 40,
};

#endif
