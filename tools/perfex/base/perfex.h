/* SPDX-License-Identifier: GPL-2.0 */
/* Defines what all of perfex knows: its version, its exit statuses, the architecture. */
#ifndef PERFEX_H
#define PERFEX_H

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86	1
#else
#define IS_X86	0
#endif

#if defined(__powerpc__)
#define IS_PPC	1
#else
#define IS_PPC	0
#endif

#if defined(__riscv)
#define IS_RISCV	1
#else
#define IS_RISCV	0
#endif

/* True if all counters belong either to perf or to the module. @features: of INFO */
#define HAS_ONE_SOURCE(features)	\
	((IS_X86 && !((features) & PERFCTR_FEATURE_BESIDE)) || IS_PPC)

/* On x86: the bit of the first fixed counter in perfctr_info.counters */
#define X86_FIXED	24u

#define PERFEX_VERSION	"7.0.0"

/*
 * perfex ends as the program did, or with one of these statuses. 125 to 127 mean the same as for
 * env(1) and nohup(1).
 */
#define EXIT_USAGE	2	/* wrong usage: nothing was run */
#define EXIT_NO_COUNT	123	/* the program ran, but its instructions or cycles are 0 */
#define EXIT_PERFEX	125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND	127

#endif /* PERFEX_H */
