/* SPDX-License-Identifier: GPL-2.0 */
/* Turns symbols of Rust into names of functions. */
#ifndef PERFEX_REPORT_RUST_H
#define PERFEX_REPORT_RUST_H

/*
 * Returns the name of an old or new symbol, which the caller frees. Returns NULL if @symbol is not
 * of Rust.
 */
char *rust_demangle(const char *symbol);

#endif /* PERFEX_REPORT_RUST_H */
