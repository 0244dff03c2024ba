/* SPDX-License-Identifier: MIT */
/* tests/search.h - all states that something can reach. For tests/model.c. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search {
	size_t size; /* of a state, in bytes; all of them count */
	int choices; /* of the next step, at most */
	/* Takes a step. False: in this state that is none. */
	bool (*step)(void *state, int choice);
	/* NULL, or what is wrong with this state. */
	const char *(*wrong_with)(const void *state);
	/* Prints a line: this step will be taken. */
	void (*show)(const void *state, int choice);
};

/* From the first state on, the nearest states first. If there is a wrong one, shows the
 * steps to it and returns what is wrong; else NULL. *states: how many there were. */
const char *search(const struct search *x, const void *first, uint32_t *states);

#endif
