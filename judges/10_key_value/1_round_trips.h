/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int lock_read, lock_update, version_read, version_update;
extern const int checksum_read, buffers_read, buffers_update, count_read;
extern const int send_read;
