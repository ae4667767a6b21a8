/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a file: those of its symbol table, and the stubs by which it calls libraries */
#ifndef PERFEX_REPORT_FUNCTIONS_H
#define PERFEX_REPORT_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct functions;

/* Addresses are the module's. */
struct functions *functions_open(Dwfl_Module *module);
void functions_free(struct functions *functions);
/*
 * The symbol of a function at an address, and where that begins and ends; NULL if there is none. A
 * stub has the name of what it calls, and @plt behind it.
 */
const char *functions_find(struct functions *functions, GElf_Addr address, GElf_Addr *start,
			   GElf_Addr *end);
/* Whether an address had no function, and the file has but the symbols that libraries need */
bool functions_stripped(const struct functions *functions);

#endif /* PERFEX_REPORT_FUNCTIONS_H */
