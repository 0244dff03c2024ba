/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int empty_write, bytes_changed, open_keys;

enum { NONE, WHOLE_PACKETS, ALL_THAT_FIT, ALL }; /* bytes_changed */
enum { NEITHER, ONLY_A, ONLY_B, BOTH };          /* open_keys */
