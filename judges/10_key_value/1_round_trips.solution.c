/* SPDX-License-Identifier: MIT */
/* Solution of exercise 10.1 - how many round trips? */
#include "1_round_trips.h"

const int lock_read = 2;   /* swap and READ in one list; swap */
const int lock_update = 2; /* swap; WRITE and swap in one list */
const int checksum_read = 1;
const int buffers_read = 3;   /* generation, buffer, generation */
const int buffers_update = 1; /* WRITE and FETCH_AND_ADD in one list */
const int count_read = 3;     /* generation; in, generation and buffer; out */
const int send_read = 1;
