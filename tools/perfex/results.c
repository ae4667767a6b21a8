// SPDX-License-Identifier: GPL-2.0
/* The file where the counts go. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfex.h"

FILE *results_file(struct results *results)
{
	struct stat st;

	if (results->path && !results->begun && !fstat(fileno(results->f), &st) &&
	    S_ISREG(st.st_mode) && ftruncate(fileno(results->f), 0) < 0)
		explain("cannot empty '%s': %s", results->path, strerror(errno));
	results->begun = true;
	return results->f;
}

/*
 * Before anything runs: what cannot be written need not be counted. But what the file has
 * stays in it until there are results, for a program that is not found leaves none.
 */
bool results_open(struct results *results)
{
	int fd;

	results->f = stderr;
	if (!results->path)
		return true;
	fd = open(results->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	results->created = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(results->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	results->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!results->f) {
		explain("cannot write '%s': %s", results->path, strerror(errno));
		return false;
	}
	return true;
}

/* What nobody can read is as good as not counted. */
bool results_close(struct results *results)
{
	bool ok = !fflush(results->f) && !ferror(results->f);

	if (!ok)
		explain("cannot write the counts: %s", strerror(errno));
	if (!results->path)
		return ok;
	fclose(results->f);
	if (results->created && !results->begun)
		(void)unlink(results->path);
	return ok;
}
