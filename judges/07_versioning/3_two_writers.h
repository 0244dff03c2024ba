/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "judge.h"

/* An atomic load of the version. The other writer may do something after it. */
uint64_t look(void);
/* Makes all data n. The other writer must not be at work. */
void write_data(uint64_t n);

/* The judge's, called just before each access that your functions of stdatomic.h make:
 * the other writer may come then, too. Returns where the version is: not at p. */
uint64_t *before_access(_Atomic uint64_t *p, memory_order order);
void before_fence(memory_order order);
#ifndef TWO_WRITERS_JUDGE
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_fetch_xor
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_xor_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_thread_fence

/* What these names are in gcc and clang. What v says is known before the access. */
#define WITH(v, access)                  \
	({                               \
		const uint64_t v_ = (v); \
		access;                  \
	})
#define atomic_load_explicit(p, m) __atomic_load_n(before_access(p, m), m)
#define atomic_store_explicit(p, v, m) \
	WITH(v, __atomic_store_n(before_access(p, m), v_, m))
#define atomic_exchange_explicit(p, v, m) \
	WITH(v, __atomic_exchange_n(before_access(p, m), v_, m))
#define atomic_fetch_add_explicit(p, n, m) \
	WITH(n, __atomic_fetch_add(before_access(p, m), v_, m))
#define atomic_fetch_sub_explicit(p, n, m) \
	WITH(n, __atomic_fetch_sub(before_access(p, m), v_, m))
#define atomic_fetch_or_explicit(p, n, m) \
	WITH(n, __atomic_fetch_or(before_access(p, m), v_, m))
#define atomic_fetch_and_explicit(p, n, m) \
	WITH(n, __atomic_fetch_and(before_access(p, m), v_, m))
#define atomic_fetch_xor_explicit(p, n, m) \
	WITH(n, __atomic_fetch_xor(before_access(p, m), v_, m))
#define atomic_compare_exchange_strong_explicit(p, expected, v, m, failed)     \
	WITH(v, __atomic_compare_exchange_n(before_access(p, m), expected, v_, \
					    0, m, failed))
#define atomic_compare_exchange_weak_explicit(p, expected, v, m, failed)       \
	WITH(v, __atomic_compare_exchange_n(before_access(p, m), expected, v_, \
					    1, m, failed))

#define atomic_thread_fence(m) (before_fence(m), __atomic_thread_fence(m))

#define SEQ memory_order_seq_cst
#define atomic_load(p) atomic_load_explicit(p, SEQ)
#define atomic_store(p, v) atomic_store_explicit(p, v, SEQ)
#define atomic_exchange(p, v) atomic_exchange_explicit(p, v, SEQ)
#define atomic_fetch_add(p, n) atomic_fetch_add_explicit(p, n, SEQ)
#define atomic_fetch_sub(p, n) atomic_fetch_sub_explicit(p, n, SEQ)
#define atomic_fetch_or(p, n) atomic_fetch_or_explicit(p, n, SEQ)
#define atomic_fetch_and(p, n) atomic_fetch_and_explicit(p, n, SEQ)
#define atomic_fetch_xor(p, n) atomic_fetch_xor_explicit(p, n, SEQ)
#define atomic_compare_exchange_strong(p, expected, v) \
	atomic_compare_exchange_strong_explicit(p, expected, v, SEQ, SEQ)
#define atomic_compare_exchange_weak(p, expected, v) \
	atomic_compare_exchange_weak_explicit(p, expected, v, SEQ, SEQ)
#endif

/* The exercise's. */
void update(_Atomic uint64_t *version, uint64_t n);
