/* SPDX-License-Identifier: MIT */
/* 07_versioning/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

#ifndef READS
#define READS 100 /* records that each act wants to see accepted */
#endif

enum {
	LESSON = 7,
	WORDS = 750,  /* 6000 bytes: several packets wherever this runs */
	PAUSE = 2000, /* us: how long the writer rests, at first */
	CHANGES = 16, /* of the version, that each act wants to see */
};

/* The server's record. In update n every word of data is n: a record with two
 * different words is torn, whatever its version says. */
struct record {
	_Atomic uint64_t version; /* the CPU stores it whole */
	uint64_t data[WORDS];
};

#endif
