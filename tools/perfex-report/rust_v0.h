/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols of Rust's version 0. */
#ifndef PERFEX_REPORT_RUST_V0_H
#define PERFEX_REPORT_RUST_V0_H

/* @text is behind the prefix _R. The name, to be freed; NULL: it is no such symbol. */
char *rust_demangle_v0(const char *text);

#endif /* PERFEX_REPORT_RUST_V0_H */
