/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { PATIENCE = 5 };

/* The version. Between two looks a writer that lives may do something. */
uint64_t look(void);
/* Destroys the writer's QP: when this returns, no request of it is executed any
 * more. One that was under way may have been executed before. */
void cut_off(void);
/* Puts the last whole data back into the record, from a copy. */
void restore(void);
/* Stores the version, after all that was stored before. */
void set_version(uint64_t version);

/* The exercise's. */
void rescue(void);
