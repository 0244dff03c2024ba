/* SPDX-License-Identifier: MIT */
/* common/plumbing/say.c - the command line, one-line output, dying. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static const char *role = "?";

static void line(int fd, const char *mark, const char *fmt, va_list ap)
{
	char buf[512];
	int n = snprintf(buf, sizeof buf, "%s: %s", role, mark);

	n += vsnprintf(buf + n, sizeof buf - (size_t)n, fmt, ap);
	if (n > (int)sizeof buf - 1)
		n = sizeof buf - 1;
	buf[n++] = '\n';
	if (write(fd, buf, (size_t)n) != n)
		_exit(1); /* a lost line must not look like success */
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(STDOUT_FILENO, "", fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(STDERR_FILENO, "# ", fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	static atomic_flag dying = ATOMIC_FLAG_INIT;
	va_list ap;

	/* One FAIL line: if two threads fail, the second waits for the exit. */
	while (atomic_flag_test_and_set(&dying))
		pause();
	va_start(ap, fmt);
	line(STDOUT_FILENO, "FAIL ", fmt, ap);
	va_end(ap);
	exit(1);
}

void die_err(int err, const char *fmt, ...)
{
	err = abs(err); /* rxe before rdma-core 44: -EINVAL */
	const char *name = strerrorname_np(err), *hint = "";
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	if (err == ENOMEM && strcmp(what, "ibv_reg_mr") == 0)
		hint = "; \"ulimit -l\" limits what may be pinned";
	die("%s: %s (%s)%s", what, strerror(err), name ? name : "?", hint);
}

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const struct own_option *own; /* the lesson's own, or NULL */

static void usage(int status)
{
	FILE *to = status ? stderr : stdout;

	fprintf(to,
		"usage: %s [-d device] [-i ib-port] [-g gid-index] "
		"[-p tcp-port] [-t seconds]%s\n"
		"  -d  RDMA device (the first with an active port)\n"
		"  -i  port of the device (1)\n"
		"  -g  index into the port's GID table (chosen, and printed)\n"
		"  -p  port at which the two meet (18515)\n"
		"  -t  longest single wait (6)\n",
		role, strcmp(role, "client") == 0 ? " [host]" : "");
	for (const struct own_option *o = own; o && o->letter; o++)
		fprintf(to, "  -%c  %s\n", o->letter, o->help);
	exit(status);
}

/* The value of option -c. */
static int number(int c, int min, int max)
{
	char *end;
	long n = strtol(optarg, &end, 10);

	if (end == optarg || *end || n < min || n > max) {
		fprintf(stderr,
			"%s: -%c takes a number from %d to %d, not \"%s\"\n",
			role, c, min, max, optarg);
		usage(2);
	}
	return (int)n;
}

/* The last resort, should a call of libibverbs itself not return. */
static char alarm_line[80];

static void too_long(int sig)
{
	(void)sig;
	(void)!write(STDOUT_FILENO, alarm_line, strlen(alarm_line));
	_exit(1);
}

/* Is it one of the lesson's own? Then its text is where the lesson wants it. */
static bool is_own(int c)
{
	for (const struct own_option *o = own; o && o->letter; o++)
		if (o->letter == c) {
			*o->value = optarg;
			return true;
		}
	return false;
}

struct options parse_args(int argc, char **argv, const char *r, unsigned lesson)
{
	return parse_args_and(argc, argv, r, lesson, NULL);
}

struct options parse_args_and(int argc, char **argv, const char *r,
			      unsigned lesson, const struct own_option *more)
{
	char letters[64] = "d:i:g:p:t:h";
	struct options o = {
		.role = r,
		.lesson = lesson,
		.tcp_port = "18515",
		.ib_port = 1,
		.gid_index = -1,
		.wait_s = 6,
	};
	int c;

	role = r;
	own = more;
	for (size_t n = strlen(letters); more && more->letter; more++) {
		letters[n++] = more->letter;
		letters[n++] = ':';
	}
	while ((c = getopt(argc, argv, letters)) != -1) {
		if (c == 'd')
			o.dev = optarg;
		else if (c == 'i')
			o.ib_port = (uint8_t)number(c, 1, 254);
		else if (c == 'g')
			o.gid_index = number(c, 0, 255);
		else if (c == 'p' && number(c, 1, 65535))
			o.tcp_port = optarg;
		else if (c == 't')
			o.wait_s = number(c, 1, 3600);
		else if (!is_own(c))
			usage(c == 'h' ? 0 : 2);
	}
	if (strcmp(r, "client") == 0 && optind < argc)
		o.host = argv[optind++];
	if (optind < argc)
		usage(2);
	snprintf(alarm_line, sizeof alarm_line,
		 "%s: FAIL the whole program took too long\n", role);
	signal(SIGALRM, too_long);
	alarm(10 * (unsigned)o.wait_s);
	return o;
}
