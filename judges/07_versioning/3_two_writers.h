/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "judge.h"

/* An atomic load of the version. The other writer may do something after it. */
uint64_t look(void);
/* Makes all data n. The other writer must not be at work. */
void write_data(uint64_t n);

/* The judge's, called just before each access that your functions of stdatomic.h make:
 * the other writer may come then, too. Returns where the version is: not at p. */
void *before_access(void *p);
#ifndef TWO_WRITERS_JUDGE
#define AT(p) ((__typeof__(p))before_access(p))
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
#define atomic_load(p) atomic_load_explicit(AT(p), memory_order_seq_cst)
#define atomic_store(p, v) atomic_store_explicit(AT(p), v, memory_order_seq_cst)
#define atomic_exchange(p, v) \
	atomic_exchange_explicit(AT(p), v, memory_order_seq_cst)
#define atomic_fetch_add(p, n) \
	atomic_fetch_add_explicit(AT(p), n, memory_order_seq_cst)
#define atomic_fetch_or(p, n) \
	atomic_fetch_or_explicit(AT(p), n, memory_order_seq_cst)
#define atomic_fetch_sub(p, n) \
	atomic_fetch_sub_explicit(AT(p), n, memory_order_seq_cst)
#define atomic_fetch_and(p, n) \
	atomic_fetch_and_explicit(AT(p), n, memory_order_seq_cst)
#define atomic_fetch_xor(p, n) \
	atomic_fetch_xor_explicit(AT(p), n, memory_order_seq_cst)
#define atomic_compare_exchange_strong(p, expected, v)                 \
	(atomic_compare_exchange_strong_explicit(AT(p), expected, v,   \
						 memory_order_seq_cst, \
						 memory_order_seq_cst))
#define atomic_compare_exchange_weak(p, expected, v)                 \
	(atomic_compare_exchange_weak_explicit(AT(p), expected, v,   \
					       memory_order_seq_cst, \
					       memory_order_seq_cst))
#endif

/* The exercise's. */
void update(_Atomic uint64_t *version, uint64_t n);
