/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The exercise's. */
extern const int asleep, two_messages, without_flag;

enum { ONE_OF_10, TWO_OF_5, ONE_OF_64, TWO_OF_64, SOMETHING_ELSE };
enum { NEITHER, ONLY_YOU, ONLY_PEER, BOTH };
