/* SPDX-License-Identifier: MIT */
/* 10_key_value/stopped.h - acts 5 and 6: a client that stops in its PUT. (stopped.c) */
#ifndef STOPPED_H
#define STOPPED_H

/* Its late WRITE must do no harm. */
void client_4_stops(void);
/* It was cut off. Then it stops once more, and is back before somebody waits. */
void client_4_comes_back(void);

#endif
