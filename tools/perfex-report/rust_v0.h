/* SPDX-License-Identifier: GPL-2.0 */
/* Demangles symbols of Rust's version 0. */
#ifndef PERFEX_REPORT_RUST_V0_H
#define PERFEX_REPORT_RUST_V0_H

/*
 * Returns the name of the symbol whose text behind the prefix _R is @text. The caller frees the
 * name. Returns NULL if @text is no such symbol.
 */
char *rust_demangle_v0(const char *text);

#endif /* PERFEX_REPORT_RUST_V0_H */
