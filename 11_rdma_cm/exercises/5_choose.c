/* SPDX-License-Identifier: MIT */
/*
 * Exercise 11.5 - choose: how do they get to know each other?  ** 15 minutes
 *
 * Three programs. How does their client get the QP number and the address, and how
 * does it learn where the server's memory is? Choose for each the way that does it
 * with the fewest trips over the network:
 *
 *   TCP_EXCHANGE      a TCP connection, and QPs that are moved by hand (lesson 00)
 *   CM_THEN_SEND      the CM; the server SENDs where its memory is (this lesson)
 *   CM_PRIVATE_DATA   the CM; that stands in the private data of the answer
 *
 * An answer (REP) has room for 196 bytes of private data. Of a region the client
 * needs address, length and rkey: 20 bytes. The judge tries the two ways of the CM, on
 * a wire where the server's RoCE packets are late.
 */
#include "5_choose.h"

/* A log: the server opens one region, and the client WRITEs one record to it, as
 * soon as it can. */
const int one_region = UNANSWERED; /* TODO 11.5 */

/* A table: the server opens 40 regions and no TCP port, and the client needs all of
 * the regions before it begins. */
const int forty_regions = UNANSWERED;

/* A cluster: only the machines' other network has IP addresses, and one of these is all
 * that a client knows of its server. The ports for RDMA have GIDs. */
const int no_address = UNANSWERED;
