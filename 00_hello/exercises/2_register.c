/* SPDX-License-Identifier: MIT */
/*
 * Exercise 0.2 - extend: no more rights than needed            * 15 minutes
 *
 * A desk has four parts that the NICs may use, and notes that no NIC may touch:
 *
 *	struct desk { char letter[96], notes[32], inbox[96], board[96], form[96]; };
 *	struct regions { struct ibv_mr *letter, *inbox, *board, *form; };
 *
 * - letter: your NIC sends messages from it.
 * - inbox:  your NIC puts the messages into it that come in.
 * - board:  the peer's NIC may read it, by itself (lesson 03).
 * - form:   the peer's NIC may write to it, by itself (lesson 02).
 *
 * Write register_desk(): it registers each part in pd, as a region of its own
 * with the least rights that are enough, and stores the region in *mr. If a
 * call fails, end the program with die_err(errno, "ibv_reg_mr"). The manual page
 * ibv_reg_mr lists the rights (IBV_ACCESS_...), and says which of them needs
 * another one beside it.
 *
 * The judge calls register_desk(), and tries on each region what should be allowed,
 * and what should not. Then it calls it in four child processes; in each, another
 * call fails.
 */
#include <errno.h>

#include "2_register.h"

void register_desk(struct ibv_pd *pd, struct desk *desk, struct regions *mr)
{
	(void)pd, (void)desk, (void)mr; /* TODO 0.2: mr->letter = ... */
}
