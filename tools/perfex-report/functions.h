/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a file: its symbols, and the stubs that call libraries. */
#ifndef PERFEX_REPORT_FUNCTIONS_H
#define PERFEX_REPORT_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct functions;

/* Addresses are the module's. */
struct functions *functions_open(Dwfl_Module *module);
void functions_free(struct functions *functions);
/*
 * The symbol of the function at an address, and where the function begins and ends; NULL: there is
 * none. A stub has the name of what it calls, with @plt behind it.
 */
const char *functions_find(struct functions *functions, GElf_Addr address, GElf_Addr *start,
			   GElf_Addr *end);
/* Some address had no function, and the file is stripped. */
bool functions_stripped(const struct functions *functions);

#endif /* PERFEX_REPORT_FUNCTIONS_H */
