/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the functions of a file, by its symbols and the stubs that call libraries. */
#ifndef PERFEX_REPORT_FUNCTIONS_H
#define PERFEX_REPORT_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct functions;

/* Opens the functions of a module. All addresses below are the module's. */
struct functions *functions_open(Dwfl_Module *module);
void functions_free(struct functions *functions);
/*
 * Returns the symbol of the function at an address, or NULL if there is none. *start and *end get
 * the beginning and the end of the function. A stub has the name of the function that it calls,
 * with @plt behind the name.
 */
const char *functions_find(struct functions *functions, GElf_Addr address, GElf_Addr *start,
			   GElf_Addr *end);
/* Returns true if some address had no function and the file is stripped. */
bool functions_stripped(const struct functions *functions);

#endif /* PERFEX_REPORT_FUNCTIONS_H */
