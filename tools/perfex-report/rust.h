/* SPDX-License-Identifier: GPL-2.0 */
/* Names of Rust */
#ifndef PERFEX_REPORT_RUST_H
#define PERFEX_REPORT_RUST_H

/* The name that a symbol of Rust stands for, of either of its forms, to be freed; NULL: it is none. */
char *rust_demangle(const char *symbol);

#endif /* PERFEX_REPORT_RUST_H */
