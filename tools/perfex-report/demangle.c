// SPDX-License-Identifier: GPL-2.0
/*
 * Demangles symbols of C++ by libstdc++, whose ABI for names has not changed since 2003. The
 * library is loaded if it exists: a user who has programs in C++ has it. rust.c demangles the
 * symbols of Rust.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "rust.h"

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
		/*
		 * C has no other way to make a function pointer of what dlsym() returns; see
		 * dlopen(3).
		 */
		*(void **)&function = dlsym(handle, "__cxa_demangle");
	return function;
}

static char *demangle_symbol(const char *name)
{
	demangle_t function;
	int status;
	char *plain = rust_demangle(name);

	if (plain || strncmp(name, "_Z", 2) != 0)
		return plain;
	function = library();
	return function ? function(name, NULL, NULL, &status) : NULL;
}

char *demangle(const char *name)
{
	static const char stub[] = "@plt";
	size_t length = strlen(name);
	char *symbol, *plain, *whole;

	if (length < sizeof(stub) || strcmp(name + length + 1 - sizeof(stub), stub) != 0)
		return demangle_symbol(name);
	symbol = strndup(name, length + 1 - sizeof(stub));
	plain = symbol ? demangle_symbol(symbol) : NULL;
	if (!plain || asprintf(&whole, "%s%s", plain, stub) < 0)
		whole = NULL;
	free(symbol);
	free(plain);
	return whole;
}
