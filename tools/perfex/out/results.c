// SPDX-License-Identifier: GPL-2.0
/*
 * Writes counts to a temporary file beside the file that the user wants. Once the temporary file is
 * whole, it replaces that file. A pipe or a terminal is written to directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "count/explain.h"
#include "count/signals.h"
#include "out/results.h"

FILE *results_file(struct results *results)
{
	results->begun = true;
	return results->f;
}

/* Gives a file the mode and owner of the old file, or the usual mode if there is no old file. */
static void copy_mode(int fd, const struct stat *old)
{
	mode_t mask;

	if (old) {
		/* Only root may change an owner, so EPERM is no failure. */
		if (fchown(fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
			explain("cannot keep the file's owner: %s", strerror(errno));
		(void)fchmod(fd, old->st_mode & 07777);
		return;
	}
	mask = umask(0);
	(void)umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

/* Opens the temporary file beside @results->target. Returns a descriptor, or -1 with errno. */
static int open_beside(struct results *results, const struct stat *old)
{
	int fd;

	if (asprintf(&results->temporary, "%s.XXXXXX", results->target) < 0) {
		results->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(results->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(results->temporary);
		results->temporary = NULL;
		return -1;
	}
	copy_mode(fd, old);
	return fd;
}

/* Returns the descriptor that a path such as "/dev/stdout" or "/dev/fd/3" means, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	unsigned long fd;
	size_t i, length;
	char *end;

	for (i = 1; i < 3; i++)
		if (!strcmp(path, names[i]))
			return (int)i;
	for (i = 0; i < 2; i++) {
		length = strlen(folders[i]);
		if (strncmp(path, folders[i], length) != 0)
			continue;
		fd = strtoul(path + length, &end, 10);
		if (path[length] && !*end && fd < INT_MAX)
			return (int)fd;
	}
	return -1;
}

static int open_target(struct results *results)
{
	int fd = descriptor_of(results->path);
	struct stat st;

	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* A symbolic link stays. The file that it leads to is replaced. */
	results->target = path_target(results->path);
	if (!results->target)
		return -1;
	if (stat(results->target, &st))
		return errno == ENOENT ? open_beside(results, NULL) : -1;
	if (!S_ISREG(st.st_mode))
		return open(results->target, O_WRONLY | O_CLOEXEC);
	if (access(results->target, W_OK) < 0 || !path_may_replace(results->target))
		return -1;
	return open_beside(results, &st);
}

bool results_name(const char *option, const char *pattern, char **name)
{
	char why[256];

	*name = path_expand(pattern, why, sizeof(why));
	if (!*name)
		explain("%s: '%s': %s", option, pattern, why);
	return *name != NULL;
}

bool results_open(struct results *results)
{
	int fd, error;

	signals_spare_limit();
	results->f = results->standard ?: stderr;
	if (!results->path)
		return true;
	fd = open_target(results);
	results->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (results->f)
		return true;
	error = errno;
	explain("cannot write '%s': %s", results->path, strerror(error));
	if (error == EACCES && !access(results->path, W_OK))
		fprintf(stderr, "Its directory must be writable, too: the file is replaced when all is there\n");
	if (results->target && !path_may_replace(results->target))
		fprintf(stderr, "It is another user's, and in a sticky directory only its owner may replace it\n");
	results_close(results);
	return false;
}

bool results_written(struct results *results)
{
	int copy;

	if (!results->error && (fflush(results->f) || ferror(results->f)))
		results->error = errno ?: EIO;
	/* Some file systems report a lack of room only at close(2). */
	copy = results->path && !results->error ? dup(fileno(results->f)) : -1;
	if (copy >= 0 && close(copy))
		results->error = errno;
	return !results->error;
}

static bool take_name(struct results *results)
{
	if (results->error || !results->begun || !results->temporary ||
	    !rename(results->temporary, results->target))
		return true;
	results->error = errno;
	return false;
}

/* Returns true if the temporary file has counts that are nowhere else. */
static bool is_worth_keeping(const struct results *results)
{
	struct stat st;

	return results->error && results->begun && !results->told && results->temporary &&
		!stat(results->temporary, &st) && st.st_size;
}

/*
 * Copies the temporary file to stderr, since its directory is gone and nobody can open the file any
 * more.
 */
static void pour(int fd)
{
	char text[4096];
	ssize_t n;

	(void)lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stderr);
}

bool results_close(struct results *results)
{
	bool ok = results->f && results_written(results) && take_name(results);
	bool kept = is_worth_keeping(results);

	if (results->f && results->temporary && results->error && access(results->temporary, F_OK))
		pour(fileno(results->f));
	if (results->path && results->f)
		(void)fclose(results->f);
	if (!ok && results->f)
		explain("cannot write %s%s%s: %s%s%s%s", results->path ? "'" : "",
			results->path ?: "the counts", results->path ? "'" : "",
			strerror(results->error), kept ? ".\nWhat could be written is in '" : "",
			kept ? results->temporary : "", kept ? "'" : "");
	if (results->temporary && !kept && (!ok || !results->begun))
		(void)unlink(results->temporary);
	free(results->temporary);
	free(results->target);
	results->temporary = results->target = NULL;
	return ok;
}
