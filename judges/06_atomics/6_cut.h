/* SPDX-License-Identifier: MIT */
#include "judge.h"

bool add(uint32_t number);
void reconnect(void);
uint64_t read_word(void);

/* The exercise's. */
void deliver(const uint32_t *numbers, int n);
