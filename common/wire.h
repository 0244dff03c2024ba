/* SPDX-License-Identifier: MIT */
/*
 * common/wire.h - a bad wire, where a lesson needs one to show something.
 */
#ifndef WIRE_H
#define WIRE_H

#include "common.h"

/*
 * From now on all RoCE packets that leave our network interface are late by so many
 * ms, or lost (tc, netem), until the next call, wire_free(), or the end of the
 * program. wire_free() throws away what is late. TCP stays as it is.
 * Both return false, and change nothing, if the lab did not make the interface; if
 * that cannot be changed, they end the program.
 */
bool wire_slow(const struct ep *ep, unsigned ms);
bool wire_cut(const struct ep *ep);
void wire_free(void);

#endif
