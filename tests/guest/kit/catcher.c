// SPDX-License-Identifier: GPL-2.0
/*
 * catcher FILE: counts the signals that it gets in half a second, and exits with their
 * number. FILE appears when it is ready for them. If it may, it runs before everything else
 * on its CPU, so that two signals are not merged into one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void catch(int signo)
{
	(void)signo;
	caught++;
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = catch };
	struct sched_param first = { .sched_priority = 1 };
	struct timespec end;
	unsigned int i;

	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &action, NULL))
			return 100;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += 500000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	if (argc != 2 || close(open(argv[1], O_WRONLY | O_CREAT, 0600)))
		return 101;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		continue;
	return caught;
}
