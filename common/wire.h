/* SPDX-License-Identifier: MIT */
/*
 * common/wire.h - a slow wire, where a lesson needs one to show something.
 */
#ifndef WIRE_H
#define WIRE_H

#include "common.h"

/*
 * From now on all that leaves our network interface is late by so many ms (tc,
 * netem), until wire_free() or the end of the program. Returns false, and
 * nothing is slow, if the lab did not make this interface.
 */
bool wire_slow(const struct ep *ep, unsigned ms);
/* As it was. The packets that still wait are lost. */
void wire_free(void);

#endif
