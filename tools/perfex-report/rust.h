/* SPDX-License-Identifier: GPL-2.0 */
/* Names of Rust's functions. */
#ifndef PERFEX_REPORT_RUST_H
#define PERFEX_REPORT_RUST_H

/* The name of a symbol, old or new, to be freed; NULL: it is no symbol of Rust */
char *rust_demangle(const char *symbol);

#endif /* PERFEX_REPORT_RUST_H */
