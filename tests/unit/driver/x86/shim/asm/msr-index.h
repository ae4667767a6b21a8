/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as in Intel's Software Developer's Manual, volume 4, names as Linux has them. */
#ifndef SHIM_ASM_MSR_INDEX_H
#define SHIM_ASM_MSR_INDEX_H

#define MSR_ARCH_PERFMON_PERFCTR0	0x0c1
#define MSR_ARCH_PERFMON_EVENTSEL0	0x186
#define MSR_CORE_PERF_FIXED_CTR0	0x309
#define MSR_CORE_PERF_FIXED_CTR_CTRL	0x38d
#define MSR_CORE_PERF_GLOBAL_STATUS	0x38e
#define MSR_CORE_PERF_GLOBAL_CTRL	0x38f
#define MSR_CORE_PERF_GLOBAL_OVF_CTRL	0x390
#define MSR_CORE_PERF_GLOBAL_STATUS_SET	0x391
#define MSR_IA32_PMC0			0x4c1
#define MSR_FS_BASE			0xc0000100

#endif /* SHIM_ASM_MSR_INDEX_H */
