/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. mw: a memory window of type 2. mr: a region that may be bound
 * to (IBV_ACCESS_MW_BIND), and that is closed to the peer itself. */
uint32_t lend(struct ep *ep, struct ibv_mw *mw, struct ibv_mr *mr, char *p,
	      size_t len);
void take_back(struct ep *ep, struct ibv_mw *mw);
