/* SPDX-License-Identifier: GPL-2.0 */
/* Turns symbols of C++ and Rust into the names that programmers write. */
#ifndef PERFEX_REPORT_DEMANGLE_H
#define PERFEX_REPORT_DEMANGLE_H

/*
 * Returns the name, which the caller frees. Returns NULL if @name is no symbol of C++ or Rust, or
 * if libstdc++ is missing.
 */
char *demangle(const char *name);

#endif /* PERFEX_REPORT_DEMANGLE_H */
