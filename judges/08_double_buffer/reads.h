/* SPDX-License-Identifier: MIT */
#include "judge.h"
#include "lesson.h" /* BUFFERS, WORDS */

/* READs, each with one round trip. What is in a buffer does not tell its generation. */
uint64_t fetch_generation(void);
void fetch_buffer(uint64_t to[WORDS], uint64_t number); /* from 0 */
/* FETCH_AND_ADD, COMPARE_AND_SWAP: they return what was there before. */
uint64_t add_to_lease(uint64_t number, int n); /* number: 0 or 1; n: 1 or -1 */
uint64_t swap_lease(uint64_t number, uint64_t from, uint64_t to);

/* The exercise's, of 8.3 and of 8.4. */
uint64_t read_leased(uint64_t to[WORDS]);
