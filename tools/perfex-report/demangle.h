/* SPDX-License-Identifier: GPL-2.0 */
/* Makes the names of C++ and Rust that programmers write. */
#ifndef PERFEX_REPORT_DEMANGLE_H
#define PERFEX_REPORT_DEMANGLE_H

/*
 * Returns the name, which the caller frees. Returns NULL if @name is no such symbol, or if
 * libstdc++ is missing.
 */
char *demangle(const char *name);

#endif /* PERFEX_REPORT_DEMANGLE_H */
