/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/tool.c - copy blocks from standard input, or to standard output.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"

static struct client client;

static unsigned number(const char *what, const char *text, unsigned min,
		       unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < min || n > max)
		die("%s: a number from %u to %u, not \"%s\"", what, min, max,
		    text);
	return (unsigned)n;
}

/* Whole blocks: the last one is filled up with zeroes. `out` is for data: say()
 * prints to standard output. */
static void copy_blocks(struct client *c, const char *what, unsigned first,
			unsigned count, unsigned size, FILE *out)
{
	static char text[MAX_COUNT * BLOCK];
	bool write = strcmp(what, "write") == 0;
	bool read = strcmp(what, "read") == 0;
	const unsigned asked = count;

	for (unsigned n; first < BLOCKS && count > 0; first += n, count -= n) {
		n = size < count ? size : count;
		n = n < BLOCKS - first ? n : BLOCKS - first;
		size_t got =
			read ? n * BLOCK : fread(text, 1, n * BLOCK, stdin);
		if (got == 0)
			break;
		n = (unsigned)(got + BLOCK - 1) / BLOCK;
		memset(text + got, 0, sizeof text - got);
		memcpy(c->buffer[0], text, sizeof text);
		call_ok(c, write ? OP_WRITE : OP_READ, first, n);
		if (read && fwrite(c->buffer[0], BLOCK, n, out) != n)
			die_err(errno, "standard output");
		if (!read && memcmp(c->buffer[0], text, got) != 0)
			die("verify: block %u or one of the next %u differs",
			    first, n - 1);
	}
	if (!read && ferror(stdin))
		die("%s: standard input cannot be read", what);
	if (!read && count == asked)
		die("%s: standard input is empty", what);
	if (!read && getchar() != EOF)
		die("%s: standard input is longer", what);
	if (write)
		call_ok(c, OP_FLUSH, 0, 0);
	if (fclose(out) == EOF)
		die_err(errno, "standard output");
}

int main(int argc, char **argv)
{
	const char *what = "read", *first = "0", *count = "256", *size = "8";
	struct own_option own[] = {
		{ .letter = 'o',
		  .help = "read, write or verify (read)",
		  .value = &what },
		{ .letter = 'b', .help = "first block (0)", .value = &first },
		{ .letter = 'n',
		  .help = "blocks at most (all)",
		  .value = &count },
		{ .letter = 's',
		  .help = "blocks in a command (8)",
		  .value = &size },
		{ 0 },
	};
	struct options opt = parse_args_and(argc, argv, "client", LESSON, own);
	/* Standard output is for data, so say() gets standard error. */
	FILE *out = fdopen(dup(STDOUT_FILENO), "w");

	if (!out || dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
		die_err(errno, "dup");
	unsigned b = number("-b", first, 0, BLOCKS - 1);
	unsigned n = number("-n", count, 1, BLOCKS);
	unsigned s = number("-s", size, 1, MAX_COUNT);
	if (strcmp(what, "read") != 0 && strcmp(what, "write") != 0 &&
	    strcmp(what, "verify") != 0)
		die("-o: read, write or verify, not \"%s\"", what);
	arrive(&client, &opt);
	copy_blocks(&client, what, b, n, s, out);
	barrier(&client.ep); /* goodbye: the server answers */
	depart(&client);
	say("PASS %s", what);
	return 0;
}
