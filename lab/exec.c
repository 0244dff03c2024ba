/* SPDX-License-Identifier: MIT */
/*
 * lab/exec.c - run a command until nobody is left to hear it: exec NAME DIR CMD...
 *
 * It stands between ssh and the command in the guest, and another around ssh on
 * the host, for three things that ssh does not do:
 * - When the reader of our stdout or stderr goes away, the command is ended, as
 *   in "lab run yes | head -1". ssh would go on and throw the rest away.
 * - When we get a SIGTERM, so does the command.
 * - When the command ends, its descendants do, wherever they have moved.
 *
 * NAME is a file that is removed at the end: in the guest, that of our pid. If the
 * status is 255, which is ssh's own failure, too, it is NAME.255 from then on.
 *
 * exec --reseed: what was written to /dev/urandom goes into the random numbers, now.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void signal_children(int sig)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	char pid[16];

	while (f && fscanf(f, "%15s", pid) == 1)
		kill((pid_t)strtol(pid, NULL, 10), sig);
	if (f)
		fclose(f);
}

/*
 * We are a subreaper: an orphan becomes our child, whatever group or session
 * it is in. So to end children until none is left ends all descendants. They
 * have half a second to do it themselves.
 */
static void end_descendants(void)
{
	for (int ms = 0; ms < 5000; ms += 10) {
		pid_t pid;

		do
			pid = waitpid(-1, NULL, WNOHANG);
		while (pid > 0);
		if (pid < 0)
			return; /* ECHILD */
		if (ms >= 500)
			signal_children(SIGKILL);
		else if (ms % 100 == 0)
			signal_children(SIGTERM);
		usleep(10 * 1000);
	}
}

static char *name; /* removed at the end */

static int end(int status)
{
	char kept[64];

	end_descendants();
	snprintf(kept, sizeof kept, "%s.255", name);
	if (status == 255)
		rename(name, kept);
	else
		unlink(name);
	return status;
}

/*
 * A guest that was frozen wakes up with the random numbers of that day: two would
 * have the same PSNs and rkeys. See random(4), RNDRESEEDCRNG.
 */
static int reseed(void)
{
	int fd = open("/dev/urandom", O_WRONLY), bits = 256;

	return ioctl(fd, RNDADDTOENTCNT, &bits) || ioctl(fd, RNDRESEEDCRNG);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--reseed") == 0)
		return reseed();
	if (argc < 4)
		return 2;
	name = argv[1];
	program_invocation_short_name = "lab"; /* for err(3) */
	if (chdir(argv[2]))
		err(126, "%s", argv[2]);

	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	int sig_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (sig_fd < 0)
		err(126, "signalfd");
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	pid_t pid = fork();
	if (pid < 0)
		err(126, "fork");
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (!isatty(0))
			setpgid(0, 0); /* its kill(0, signal) is not for us */
		execvp(argv[3], argv + 3);
		int rc = errno == ENOENT ? 127 : 126; /* as a shell does */
		dprintf(2, "lab: cannot start %s: %m: type make doctor\n",
			argv[3]);
		_exit(rc);
	}
	/* What is typed at a terminal is for the command. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);

	/* POLLERR and POLLHUP come unasked; we never want to write. */
	struct pollfd p[] = { { .fd = sig_fd, .events = POLLIN },
			      { .fd = 1 },
			      { .fd = 2 } };
	for (;;) {
		struct signalfd_siginfo info;
		int status;

		if (poll(p, 3, -1) < 0)
			continue;
		if (!(p[0].revents & POLLIN)) {
			if ((p[1].revents | p[2].revents) & (POLLERR | POLLHUP))
				return end(128 + SIGPIPE);
			continue;
		}
		if (read(sig_fd, &info, sizeof info) != sizeof info)
			continue;
		if (info.ssi_signo != SIGCHLD)
			return end(128 + (int)info.ssi_signo);
		for (pid_t w; (w = waitpid(-1, &status, WNOHANG)) > 0;)
			if (w == pid)
				return end(WIFSIGNALED(status)
						   ? 128 + WTERMSIG(status)
						   : WEXITSTATUS(status));
	}
}
