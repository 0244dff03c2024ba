/* SPDX-License-Identifier: MIT */
/*
 * Exercise 0.3 - extend: what the QP still owes              ** 20 minutes
 *
 * The program wants to end a connection and to use its buffers for something
 * else. Receives and SENDs have been posted, and nobody has polled:
 * - Some receives have a message: their completions are in the CQ. The others
 *   are still in the receive queue, and the NIC may write to their buffers.
 * - Some SENDs are done. The others wait, since the peer posts no receive. All
 *   SENDs are SIGNALED.
 *
 * ibv_modify_qp() can put a QP into the state IBV_QPS_ERR, from each state but
 * RESET. It needs no attribute but the state. Then nothing is sent or received any more,
 * and each request that is still in a queue makes a completion with the status
 * IBV_WC_WR_FLUSH_ERR: it is flushed. That may take a while, and an empty CQ
 * does not say that no more will come.
 *
 * Each request has a number, its wr_id. Its completion has the same wr_id.
 * Receives have the numbers 0 to receives - 1. SENDs have the numbers FIRST_SEND
 * to FIRST_SEND + sends - 1; FIRST_SEND is 100.
 *
 * Write drain(): it ends the connection, and returns when the NIC holds none of
 * the buffers. It calls two functions of the judge:
 * - deliver(wr_id, byte_len) for each message that came, in order
 * - give_back(wr_id) for each other request, when its buffer is yours
 * If status is not success, a completion has no opcode (man ibv_poll_cq).
 *
 * The judge calls drain() with 6 receives and 3 SENDs, then with 4 and 2; then all
 * SENDs are done, and a message was too long for its receive, which has failed. It
 * notes which completions you took, and which buffers you gave back.
 */
#include "3_drain.h"

void drain(struct ibv_qp *qp, struct ibv_cq *cq, int receives, int sends)
{
	(void)qp, (void)cq, (void)receives, (void)sends; /* TODO 0.3 */
}
