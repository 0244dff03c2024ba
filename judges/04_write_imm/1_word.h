/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum type { DATA = 1, PROGRESS = 2, STOP = 3 };

/* The exercise's. */
uint32_t pack(enum type type, uint32_t value);
bool unpack(uint32_t imm_data, enum type *type, uint32_t *value);
