// SPDX-License-Identifier: GPL-2.0
/*
 * Runs perfex-report, the program behind perfex report and perfex annotate. It is a program of its
 * own because it needs libdw. perfex itself needs no library, so it can be copied to any machine.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/explain.h"
#include "commands.h"

#define PROGRAM	"perfex-report"

/*
 * Where perfex-report may be, relative to perfex: in a build directory, or where both are
 * installed.
 */
static const char *const places[] = {
	"/" PROGRAM,
	"/../perfex-report/" PROGRAM,
	"/../libexec/perfex/" PROGRAM,
};

int subprogram_main(int argc, char **argv)
{
	char path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;
	size_t i;

	(void)argc;
	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	for (i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(slash, sizeof(path) - (size_t)(slash - path), "%s", places[i]);
		execv(path, argv - 1);
		if (errno != ENOENT && errno != ENOTDIR) {
			explain("cannot run '%s': %s", path, strerror(errno));
			return EXIT_PERFEX;
		}
	}
#ifdef LIBEXECDIR
	execv(LIBEXECDIR "/perfex/" PROGRAM, argv - 1);
#endif
	explain("perfex %s is a program of its own, " PROGRAM ", which is not installed here. It is made\n"
		"with perfex where there is libdw of elfutils (Debian: libdw-dev). A file that was\n"
		"recorded here can be read on another machine, if the programs are there as well:\n"
		"perfex %s --symfs DIR", argv[0], argv[0]);
	return EXIT_PERFEX;
}
