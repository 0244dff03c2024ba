/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "judge.h"

/* An atomic load of the version. The other writer may do something after it. */
uint64_t look(void);
/* Makes all data n. The other writer must not be at work. */
void write_data(uint64_t n);

/* The judge's, called just before each access that your functions of stdatomic.h make:
 * the other writer may come then, too. Returns where the version is: not at p. */
_Atomic uint64_t *before_access(_Atomic uint64_t *p);
#ifndef TWO_WRITERS_JUDGE
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_or
#undef atomic_fetch_xor
#undef atomic_fetch_and
#undef atomic_fetch_sub
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define atomic_load(p) \
	(atomic_load_explicit(before_access(p), memory_order_seq_cst))
#define atomic_store(p, v) \
	(atomic_store_explicit(before_access(p), v, memory_order_seq_cst))
#define atomic_exchange(p, v) \
	(atomic_exchange_explicit(before_access(p), v, memory_order_seq_cst))
#define atomic_fetch_add(p, n) \
	(atomic_fetch_add_explicit(before_access(p), n, memory_order_seq_cst))
#define atomic_fetch_or(p, n) \
	(atomic_fetch_or_explicit(before_access(p), n, memory_order_seq_cst))
#define atomic_fetch_sub(p, n) \
	(atomic_fetch_sub_explicit(before_access(p), n, memory_order_seq_cst))
#define atomic_fetch_and(p, n) \
	(atomic_fetch_and_explicit(before_access(p), n, memory_order_seq_cst))
#define atomic_fetch_xor(p, n) \
	(atomic_fetch_xor_explicit(before_access(p), n, memory_order_seq_cst))
#define atomic_compare_exchange_strong(p, expected, v)                       \
	(atomic_compare_exchange_strong_explicit(before_access(p), expected, \
						 v, memory_order_seq_cst,    \
						 memory_order_seq_cst))
#define atomic_compare_exchange_weak(p, expected, v)                          \
	(atomic_compare_exchange_weak_explicit(before_access(p), expected, v, \
					       memory_order_seq_cst,          \
					       memory_order_seq_cst))
#endif

/* The exercise's. */
void update(_Atomic uint64_t *version, uint64_t n);
