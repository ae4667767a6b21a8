// SPDX-License-Identifier: GPL-2.0
/* Names of output files: each process of many has its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

/* %q{VAR}; *rest is behind it. Returns 0, or -1 and why. */
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
	/* The name of one file, not of a directory somewhere else */
	if (strchr(value, '/')) {
		(void)snprintf(why, size, "'%%q{%.60s}': %.60s is '%.60s', which has a slash", name, name,
			       value);
		return -1;
	}
	fputs(value, f);
	*rest = end + 1;
	return 0;
}

/* What stands after a percent sign; as above */
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
