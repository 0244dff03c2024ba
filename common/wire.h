/* SPDX-License-Identifier: MIT */
/*
 * common/wire.h - a bad wire, where a lesson needs one to show something.
 */
#ifndef WIRE_H
#define WIRE_H

#include <net/if.h>

#include "common.h"

/*
 * From now on all RoCE packets that leave our network interface are late by so many
 * ms, or lost but for SENDs of one packet (tc, netem), until the next call,
 * wire_free(), or the end of the program. wire_free() throws away what is late. TCP
 * stays as it is.
 * Both return false, and change nothing, if the lab did not make the interface; if
 * that cannot be changed, they end the program.
 */
bool wire_slow(const struct ep *ep, unsigned ms);
bool wire_cut(const struct ep *ep);
void wire_free(void);

/* Both wires as the lab made them: a program that was killed may have left one slow.
 * Before a run, not during it. */
void wires_free(void);

/* The network interface of a device, if the lab made it. If not, others may use it. */
bool wire_of(char net[IF_NAMESIZE], const char *device, unsigned port,
	     unsigned gid_index);
/* It works as if it had never been slow; false: it was not. */
bool qdisc_delete(const char *net);
/* At once, and until qdisc_delete(), it loses all that leaves it, TCP too; false: it cannot. */
bool qdisc_lose(const char *net);

#endif
