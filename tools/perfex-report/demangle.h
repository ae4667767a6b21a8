/* SPDX-License-Identifier: GPL-2.0 */
/* Names of C++ and Rust, as their programmers write them. */
#ifndef PERFEX_REPORT_DEMANGLE_H
#define PERFEX_REPORT_DEMANGLE_H

/* To be freed. NULL: it is no such symbol, or libstdc++ is missing. */
char *demangle(const char *name);

#endif /* PERFEX_REPORT_DEMANGLE_H */
