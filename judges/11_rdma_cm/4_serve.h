/* SPDX-License-Identifier: MIT */
#include <rdma/rdma_cma.h>

#include "judge.h"

bool wanted(const struct rdma_cm_event *event);
void prepare(struct rdma_cm_id *id);
void release(struct rdma_cm_id *id);

/* The exercise's. */
void serve(struct rdma_event_channel *channel, int goodbyes);
