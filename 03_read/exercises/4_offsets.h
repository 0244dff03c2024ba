/* SPDX-License-Identifier: MIT */
/* What both sides of exercise 3.4 must agree on: what a record consists of. */
#ifndef OFFSETS_H
#define OFFSETS_H

#include "lesson.h"

enum { HEAD = 50, BODY = RECORD - HEAD };

#endif
