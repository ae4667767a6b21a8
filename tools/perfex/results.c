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
 * Before anything runs, so that nothing is counted that cannot be written. The file keeps
 * its contents until there are results: if the program is not found there are none.
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

/* If the counts cannot be written the run has failed. */
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
