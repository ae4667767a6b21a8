// SPDX-License-Identifier: GPL-2.0
/*
 * libstdc++ has what turns a symbol of C++ into a name, with an ABI that has not changed since
 * 2003. It is asked if it is there: who has programs of C++ has it. Rust's older symbols are of
 * the same kind, and have a hash at their end.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

typedef char *(*demangle_t)(const char *name, char *buf, size_t *size, int *status);

static demangle_t library(void)
{
	static demangle_t function;
	static bool looked;
	void *handle;

	if (looked)
		return function;
	looked = true;
	handle = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (handle)
		/* As dlopen(3) has it: C has no other way from an object to a function. */
		*(void **)&function = dlsym(handle, "__cxa_demangle");
	return function;
}

/* "::h" and 16 hexadecimal digits */
static void drop_hash(char *name)
{
	size_t length = strlen(name);

	if (length > 19 && !strncmp(name + length - 19, "::h", 3) &&
	    strspn(name + length - 16, "0123456789abcdef") == 16)
		name[length - 19] = '\0';
}

char *demangle(const char *name)
{
	demangle_t function;
	char *plain;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	function = library();
	plain = function ? function(name, NULL, NULL, &status) : NULL;
	if (plain)
		drop_hash(plain);
	return plain;
}
