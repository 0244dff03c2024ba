/* SPDX-License-Identifier: MIT */
/*
 * course/pair.c - run a server and a client side by side, where the device is.
 *
 * usage: pair [-o DIR] SERVER CLIENT
 *          -o DIR  keep what they print in DIR/server.out, .err and .rc (and
 *                  client.*) instead of showing it
 *        pair --free   the wires are as the lab has made them
 *
 * A run of lesson 05 or 09 that was interrupted may have left a wire slow, so we
 * begin with --free. PAIR_WIRE=free says that this was done; kept or bad, that the
 * wire is to stay as it is: the tests make it bad on purpose.
 *
 * DEV_SERVER and DEV_CLIENT name the devices, SERVER_ARGS and CLIENT_ARGS are
 * passed on, PAIR_LIMIT is the longest run in seconds (90; the programs' own
 * deadlines are shorter). The client finds the server's process id in SERVER_PID.
 * Exit status: 0 if both succeeded, else that of one that did not; 126 or 127, of
 * us and of a program: it could not be started; 124: the limit, or a signal.
 *
 * In a lab of two hosts each runs in its own, as in the README, "On two machines".
 *
 * (A program, not a script: in an emulated guest bash would take longer than most
 * of the pairs.)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVER, CLIENT };
static const char *const roles[] = { "server", "client" };
static const char *dir; /* of -o */
static pid_t pids[2];
static int statuses[2] = { -1, -1 };
static sigset_t signals, unblocked; /* which we wait for; which programs get */

static const char *setting(const char *name, const char *unless)
{
	const char *value = getenv(name);

	return value ? value : unless;
}

static void path_of(char *path, size_t size, int role, const char *what)
{
	snprintf(path, size, "%s/%s.%s", dir, roles[role], what);
}

static void keep_status(int role, int status)
{
	char path[4096];
	FILE *f;

	if (!dir)
		return;
	path_of(path, sizeof path, role, "rc");
	f = fopen(path, "we");
	if (!f || fprintf(f, "%d\n", status) < 0 || fclose(f)) {
		perror(path);
		exit(125);
	}
}

/* Sets *pid; returns what bash would: 0, 127 if there is no such program, or 126. */
static int start(pid_t *pid, char **argv, posix_spawn_file_actions_t *files)
{
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &unblocked);
	switch (posix_spawnp(pid, argv[0], files, &attr, argv, environ)) {
	case 0:
		return 0;
	case ENOENT:
		return 127;
	default:
		return 126;
	}
}

/* tc(8): both wires, if they are the lab's own, in one visit. */
static void free_wires(void)
{
	const char *kind = setting("LAB_KIND", ""), *dev[2];
	char *tc[] = { "tc", "-force", "-batch", "-", NULL };
	posix_spawn_file_actions_t files;
	char lines[1024] = "";
	size_t len = 0;
	int to_tc[2];
	pid_t pid;
	int told;

	if ((strcmp(kind, "vm") != 0 && strcmp(kind, "host") != 0) ||
	    strcmp(setting("PAIR_WIRE", "free"), "free") != 0)
		return;
	dev[SERVER] = setting("DEV_SERVER", "");
	dev[CLIENT] = setting("DEV_CLIENT", "");
	for (int role = SERVER; role <= CLIENT; role++) {
		char path[256], net[64];
		FILE *f;

		snprintf(path, sizeof path,
			 "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0",
			 dev[role]);
		f = fopen(path, "re");
		if (f && fscanf(f, "%63s", net) == 1)
			len += (size_t)snprintf(lines + len, sizeof lines - len,
						"qdisc del dev %s root\n", net);
		if (f)
			fclose(f);
	}
	if (pipe2(to_tc, O_CLOEXEC))
		return;
	/* It complains of a wire that is as it should be. */
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, to_tc[0], 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	told = write(to_tc[1], lines, len) == (ssize_t)len &&
	       start(&pid, tc, &files) == 0;
	close(to_tc[1]);
	close(to_tc[0]);
	if (told)
		waitpid(pid, NULL, 0);
}

/* Kills both; they have that status then, whatever theirs would have been. */
static void end_both(int status)
{
	for (int role = SERVER; role <= CLIENT; role++) {
		/* It may have been stopped with SIGSTOP. */
		if (pids[role] > 0 && statuses[role] < 0) {
			kill(pids[role], SIGKILL);
			waitpid(pids[role], NULL, 0);
		}
	}
	keep_status(SERVER, status);
	keep_status(CLIENT, status);
}

static void could_not_start(const char *program, int status)
{
	fprintf(stderr,
		"pair: could not start %s (status %d): type make, then make "
		"doctor\n",
		program, status);
}

static void add(char ***argv, const char *word)
{
	*(*argv)++ = (char *)word;
}

static void run(int role, const char *program, const char *port)
{
	const char *device = getenv(role ? "DEV_CLIENT" : "DEV_SERVER");
	char *args = strdup(setting(role ? "CLIENT_ARGS" : "SERVER_ARGS", ""));
	char **argv = args ? calloc(strlen(args) + 16, sizeof *argv) : NULL;
	char **next = argv, path[4096];
	posix_spawn_file_actions_t files;
	int status;

	if (!argv) {
		perror("pair");
		exit(125);
	}
	if (getenv("LAB_HOSTS")) {
		setenv("LAB_HOST", role ? "2" : "1", 1);
		add(&next, "lab/lab");
		add(&next, "run");
		add(&next, "sh");
		add(&next, "-c");
		add(&next, "tc qdisc del dev eth0 root 2>/dev/null; "
			   "exec \"$0\" \"$@\"");
		add(&next, program);
		add(&next, role ? "10.9.0.1" : "-t");
		if (role == SERVER)
			add(&next, "60");
	} else {
		add(&next, program);
		if (device && *device) {
			add(&next, "-d");
			add(&next, device);
		}
		add(&next, "-p");
		add(&next, port);
	}
	for (char *word = strtok(args, " \t\n"); word;
	     word = strtok(NULL, " \t\n"))
		add(&next, word);

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (dir) {
		path_of(path, sizeof path, role, "out");
		posix_spawn_file_actions_addopen(
			&files, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		path_of(path, sizeof path, role, "err");
		posix_spawn_file_actions_addopen(
			&files, 2, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	}
	status = start(&pids[role], argv, &files);
	if (status != 0) {
		could_not_start(program, status);
		end_both(status);
		exit(status);
	}
	free(argv);
	free(args);
}

/* Until both have ended. What we wait for is blocked, so none of it is lost. */
static void wait_for_both(long limit)
{
	int status, sig;

	alarm((unsigned int)limit);
	while (statuses[SERVER] < 0 || statuses[CLIENT] < 0) {
		sigwait(&signals, &sig);
		if (sig != SIGCHLD) {
			if (sig == SIGALRM)
				fprintf(stderr, "pair: stopped after %ld s\n",
					limit);
			end_both(124);
			free_wires();
			exit(124);
		}
		for (int role = SERVER; role <= CLIENT; role++) {
			if (statuses[role] < 0 &&
			    waitpid(pids[role], &status, WNOHANG) > 0)
				statuses[role] =
					WIFSIGNALED(status)
						? 128 + WTERMSIG(status)
						: WEXITSTATUS(status);
		}
	}
	alarm(0);
}

int main(int argc, char **argv)
{
	long limit = strtol(setting("PAIR_LIMIT", "90"), NULL, 10);
	const char *wire = setting("PAIR_WIRE", "");
	char text[16];

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGALRM);
	sigprocmask(SIG_BLOCK, &signals, &unblocked);
	signal(SIGCHLD, SIG_DFL); /* were it ignored, nobody had a status */
	if (argc == 2 && strcmp(argv[1], "--free") == 0) {
		free_wires();
		return 0;
	}
	if (argc == 5 && strcmp(argv[1], "-o") == 0) {
		dir = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc != 3 || limit < 1) {
		fprintf(stderr, "usage: [PAIR_LIMIT=seconds] pair [-o DIR] "
				"SERVER CLIENT | --free\n");
		return 2;
	}

	/* Several pairs at once must not meet. */
	snprintf(text, sizeof text, "%d", 20000 + getpid() % 12000);
	run(SERVER, argv[1], text);
	/* No server touches its wire before it has a client. */
	if (strcmp(wire, "free") != 0)
		free_wires();
	char pid[16];
	snprintf(pid, sizeof pid, "%d", (int)pids[SERVER]);
	setenv("SERVER_PID", pid, 1);
	run(CLIENT, argv[2], text);
	wait_for_both(limit);

	for (int role = SERVER; role <= CLIENT; role++) {
		int status = statuses[role];

		keep_status(role, status);
		if (status == 126 || status == 127)
			could_not_start(argv[1 + role], status);
		if (!dir && status != 0)
			fprintf(stderr, "pair: %s exited with %d\n",
				roles[role], status);
	}
	if (statuses[SERVER] >= 128 || statuses[CLIENT] >= 128)
		free_wires();
	return statuses[CLIENT] ? statuses[CLIENT] : statuses[SERVER];
}
