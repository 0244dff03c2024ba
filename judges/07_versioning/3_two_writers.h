/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "judge.h"

/* An atomic load of the version. The other writer may do something after it. */
uint64_t look(void);
/* Makes all data n. The other writer must not be at work. */
void write_data(uint64_t n);

/* The judge's, called just before each access that your functions of stdatomic.h make:
 * the other writer may come then, too. */
void before_access(void);
#ifndef TWO_WRITERS_JUDGE
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_or
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define atomic_load(p) \
	(before_access(), atomic_load_explicit(p, memory_order_seq_cst))
#define atomic_store(p, v) \
	(before_access(), atomic_store_explicit(p, v, memory_order_seq_cst))
#define atomic_exchange(p, v) \
	(before_access(), atomic_exchange_explicit(p, v, memory_order_seq_cst))
#define atomic_fetch_add(p, n) \
	(before_access(), atomic_fetch_add_explicit(p, n, memory_order_seq_cst))
#define atomic_fetch_or(p, n) \
	(before_access(), atomic_fetch_or_explicit(p, n, memory_order_seq_cst))
#define atomic_compare_exchange_strong(p, expected, v) \
	(before_access(),                              \
	 atomic_compare_exchange_strong_explicit(      \
		 p, expected, v, memory_order_seq_cst, memory_order_seq_cst))
#define atomic_compare_exchange_weak(p, expected, v) \
	(before_access(),                            \
	 atomic_compare_exchange_weak_explicit(      \
		 p, expected, v, memory_order_seq_cst, memory_order_seq_cst))
#endif

/* The exercise's. */
void update(_Atomic uint64_t *version, uint64_t n);
