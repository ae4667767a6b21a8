// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the names of output files. With a pattern, each of many processes gets a name of its own.
 */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"

/*
 * Writes the value of %q{VAR} to @f, where @text begins with {. *rest is the text behind }. Returns
 * 0, or -1 with the reason in @why.
 */
static int put_variable(FILE *f, const char *text, const char **rest, char *why, size_t size)
{
	const char *end = *text == '{' ? strchr(text, '}') : NULL;
	const char *value;
	char name[256];

	if (!end || end == text + 1 || (size_t)(end - text) > sizeof(name)) {
		(void)snprintf(why, size, "'%%q%.20s': after %%q stands the name of a variable in braces: %%q{VAR}",
			       text);
		return -1;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)(end - text - 1), text + 1);
	value = getenv(name);
	if (!value) {
		(void)snprintf(why, size, "'%%q{%.60s}': the environment has no variable %.60s", name, name);
		return -1;
	}
	/* A slash would lead to another directory. */
	if (strchr(value, '/')) {
		(void)snprintf(why, size, "'%%q{%.60s}': %.60s is '%.60s', which has a slash", name, name,
			       value);
		return -1;
	}
	fputs(value, f);
	*rest = end + 1;
	return 0;
}

/*
 * Writes what "%" and the characters at @text stand for. *rest is the text behind these characters.
 * Returns 0, or -1 with the reason in @why.
 */
static int put_one(FILE *f, const char *text, const char **rest, char *why, size_t size)
{
	char host[256] = "";

	*rest = text + 1;
	switch (*text) {
	case '%':
		fputc('%', f);
		return 0;
	case 'p':
		fprintf(f, "%d", (int)getpid());
		return 0;
	case 'h':
		(void)gethostname(host, sizeof(host) - 1);
		fputs(host, f);
		return 0;
	case 'q':
		return put_variable(f, text + 1, rest, why, size);
	default:
		(void)snprintf(why, size, "'%%%.1s': after a percent sign stands p, h, q{VAR} or %%", text);
		return -1;
	}
}

char *path_expand(const char *pattern, char *why, size_t size)
{
	char *path = NULL;
	size_t length;
	FILE *f = open_memstream(&path, &length);
	int bad = 0;

	(void)snprintf(why, size, "no memory");
	if (!f)
		return NULL;
	while (*pattern && !bad) {
		if (*pattern == '%')
			bad = put_one(f, pattern + 1, &pattern, why, size);
		else
			fputc(*pattern++, f);
	}
	if (fclose(f) || bad) {
		free(path);
		return NULL;
	}
	return path;
}

/*
 * Returns the path that the symbolic link @path leads to, or NULL with errno, which is EINVAL if
 * @path is not a link.
 */
static char *follow(const char *path)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX], *next;
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	if (*text == '/' || !slash)
		return strdup(text);
	return asprintf(&next, "%.*s%s", (int)(slash + 1 - path), path, text) < 0 ? NULL : next;
}

#define MOST_LINKS	40		/* the kernel's limit */

char *path_target(const char *path)
{
	char *at = strdup(path), *next;
	unsigned int i;

	for (i = 0; at && i < MOST_LINKS; i++) {
		next = realpath(at, NULL);
		if (!next && errno == ENOENT) {
			next = follow(at);
			/* @at is not a link, so it is the target. */
			if (!next && (errno == EINVAL || errno == ENOENT))
				return at;
			free(at);
			at = next;
			continue;
		}
		free(at);
		return next;
	}
	if (at)
		errno = ELOOP;
	free(at);
	return NULL;
}

/* Returns true if the caller has CAP_FOWNER, as root has. */
static bool owns_all_files(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return !syscall(SYS_capget, &header, data) && data[0].effective >> CAP_FOWNER & 1;
}

/* In a sticky directory, only the owner of the file or of the directory may replace a file. */
bool path_may_replace(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat file, dir;
	char *parent;
	int status;

	if (lstat(path, &file))
		return errno == ENOENT;
	if (S_ISDIR(file.st_mode)) {
		errno = EISDIR;
		return false;
	}
	parent = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	status = parent ? stat(parent, &dir) : -1;
	free(parent);
	if (status < 0)
		return false;
	errno = EPERM;
	return !(dir.st_mode & S_ISVTX) || file.st_uid == geteuid() || dir.st_uid == geteuid() ||
		owns_all_files();
}
