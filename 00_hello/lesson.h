/* SPDX-License-Identifier: MIT */
/* 00_hello/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

enum {
	LESSON = 0,
	MSG_MAX = 64, /* bytes: no message may be longer */
};

#define TEXT "hello, queue pair"

#endif
