// SPDX-License-Identifier: GPL-2.0
/*
 * Passes on signals that are sent to perfex but meant for the program.
 *
 * perfex blocks these signals from before the program starts until the counts are written, and
 * takes them one by one while it waits. So no signal ends perfex before it has written the counts.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "count/signals.h"

static const struct {
	int signo;
	bool ends;	/* asks perfex to end: no further run begins */
} passed_on[] = {
	{ SIGHUP, true }, { SIGINT, true }, { SIGQUIT, true }, { SIGTERM, true },
	{ SIGUSR1, false }, { SIGUSR2, false },
};

#define NR_PASSED_ON	(sizeof(passed_on) / sizeof(passed_on[0]))

static sigset_t taken, old_mask;
static struct sigaction old_chld, old_pipe, old_limit;
static bool spares_limit;

void signals_spare_limit(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!spares_limit)
		spares_limit = !sigaction(SIGXFSZ, &ignore, &old_limit);
}

void signals_take(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction old;
	size_t i;

	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	/* If a signal was ignored when perfex was started (nohup), it is not passed on. */
	for (i = 0; i < NR_PASSED_ON; i++)
		if (!sigaction(passed_on[i].signo, NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&taken, passed_on[i].signo);
	sigprocmask(SIG_BLOCK, &taken, &old_mask);
	/* If SIGCHLD were ignored, wait(2) would find no child. */
	sigaction(SIGCHLD, &standard, &old_chld);
	/* If the reader of the intervals exits, the program runs on. */
	sigaction(SIGPIPE, &ignore, &old_pipe);
}

void signals_give_back(void)
{
	sigaction(SIGCHLD, &old_chld, NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	if (spares_limit)
		sigaction(SIGXFSZ, &old_limit, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

static bool asks_to_end(int signo)
{
	size_t i;

	for (i = 0; i < NR_PASSED_ON; i++)
		if (passed_on[i].signo == signo)
			return passed_on[i].ends;
	return false;
}

/*
 * Returns true if the program should get a signal. The terminal sends its signals to each process
 * of the foreground group, so a program of perfex's group has such a signal already. A signal that
 * the program itself sent is not passed back.
 */
static bool is_for_program(const siginfo_t *info, pid_t pid)
{
	if (info->si_code > 0)
		return getpgid(pid) != getpgrp();
	return info->si_pid != pid;
}

bool signals_pass_on(pid_t pid, int64_t ms)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};
	siginfo_t info;
	int signo = sigtimedwait(&taken, &info, ms < 0 ? NULL : &timeout);

	if (signo <= 0 || signo == SIGCHLD)
		return false;
	if (is_for_program(&info, pid))
		kill(pid, signo);
	return asks_to_end(signo);
}

int signals_fd(void)
{
	return signalfd(-1, &taken, SFD_CLOEXEC);
}

bool signals_left(void)
{
	struct timespec now = { 0 };
	bool end = false;
	int signo;

	while ((signo = sigtimedwait(&taken, NULL, &now)) > 0 || errno == EINTR)
		end |= signo > 0 && asks_to_end(signo);
	return end;
}
