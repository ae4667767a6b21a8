/* SPDX-License-Identifier: GPL-2.0 */
/* Has the style and the script of a flame graph. */
#ifndef PERFEX_REPORT_SVG_SCRIPT_H
#define PERFEX_REPORT_SVG_SCRIPT_H

extern const char svg_style[];
extern const char svg_script[];

#endif /* PERFEX_REPORT_SVG_SCRIPT_H */
