/* SPDX-License-Identifier: MIT */
/* Words of 8 bytes in the peer's memory, numbered from 0. Each function is one
 * request to the peer, and waits until it is complete. */
#include "judge.h"

uint64_t read_word(int n);
void write_word(int n, uint64_t value);
/* These return the old value, in our byte order. */
uint64_t fetch_and_add(int n, uint64_t add);
uint64_t compare_and_swap(int n, uint64_t expected, uint64_t new);
