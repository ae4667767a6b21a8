// SPDX-License-Identifier: GPL-2.0
/*
 * Gives each of several runs the same standard input. Their counts could not be compared otherwise,
 * so all runs begin where the first run begins. A pipe, which cannot be read again, is refused:
 * storing its data would mean to wait for the end of the data, which may never come. With /dev/null
 * instead, the program would have nothing to do.
 */
#define _FILE_OFFSET_BITS 64	/* the input may have more than 2 GB */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/explain.h"
#include "run/input.h"

static bool become_stdin(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY);
	bool good = fd >= 0 && (fd == STDIN_FILENO || dup2(fd, STDIN_FILENO) >= 0);

	if (!good)
		explain("--input: cannot read '%s': %s", path, strerror(errno));
	if (fd > STDIN_FILENO)
		close(fd);
	return good;
}

int input_begin(const char *path, unsigned int runs, struct how *how)
{
	how->input_begin = -1;
	if (path && !become_stdin(path))
		return EXIT_PERFEX;
	if (runs < 2)
		return -1;
	how->input_begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
	/* A terminal gives each run what is typed, and a closed stdin is the same for all runs. */
	if (how->input_begin >= 0 || errno == EBADF || isatty(STDIN_FILENO))
		return -1;
	explain("%s%s%s can be read once only, and there are %u runs. Give them a file (perfex ... <FILE, or\n"
		"--input FILE), or if they read nothing --input /dev/null", path ? "'" : "",
		path ?: "standard input", path ? "'" : "", runs);
	return EXIT_USAGE;
}

void input_again(const struct how *how)
{
	if (how->input_begin >= 0)
		(void)lseek(STDIN_FILENO, (off_t)how->input_begin, SEEK_SET);
}
