/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "judge.h"

/* An atomic load of the version. The other writer may do something after it. */
uint64_t look(void);
/* Makes all data n. The other writer must not be at work. */
void write_data(uint64_t n);

/* The exercise's. */
void update(_Atomic uint64_t *version, uint64_t n);
