/* SPDX-License-Identifier: MIT */
#include "driver.h"

/* The exercise's. list: linked by next, posted nowhere yet. */
void post_all(struct ep *ep, struct ibv_send_wr *list);
