/* SPDX-License-Identifier: MIT */
/*
 * Exercise 11.2 - extend: a client of another version          * 20 minutes
 *
 * A server decides by the private data of a request whether it accepts. Its
 * clients are older and newer than it is, and anybody may send a request. The
 * private data of ours:
 *
 *   byte 0, 1   'K', 'V'
 *   byte 2, 3   the lowest and the highest version that the client speaks
 *   byte 4      the length of the client's name
 *   byte 5 on   the name, without a 0 at its end; behind it comes anything
 *
 * The server speaks the versions OLDEST to NEWEST.
 *
 * Write choose_version(): it looks at the len bytes at data, copies the name to
 * name, which has room for NAME_LEN characters and a 0, and returns the highest
 * version that both speak. If there is none, or if the data is wrong in any way,
 * it returns 0, and then the server rejects.
 *
 * Wrong is also a name that is empty, that is longer than NAME_LEN, or that ends
 * behind the data. The judge calls choose_version() with data that ends where the
 * memory ends: who reads one byte too many gets a SIGSEGV.
 */
#include "2_versions.h"

int choose_version(const uint8_t *data, size_t len, char name[NAME_LEN + 1])
{
	(void)data, (void)len, (void)name; /* TODO 11.2 */
	return 0;
}
