/* SPDX-License-Identifier: GPL-2.0 */
/* The SBI PMU extension, numbers as in version 2.0 of the specification, chapter 11. */
#ifndef SHIM_ASM_SBI_H
#define SHIM_ASM_SBI_H

#include "shim/kernel.h"

#define SBI_EXT_BASE			0x10
#define SBI_EXT_BASE_GET_IMP_ID		1
#define SBI_EXT_PMU			0x504d55

#define SBI_EXT_PMU_NUM_COUNTERS	0
#define SBI_EXT_PMU_COUNTER_GET_INFO	1
#define SBI_EXT_PMU_COUNTER_CFG_MATCH	2
#define SBI_EXT_PMU_COUNTER_START	3
#define SBI_EXT_PMU_COUNTER_STOP	4

#define SBI_PMU_CFG_FLAG_SKIP_MATCH	BIT(0)
#define SBI_PMU_CFG_FLAG_CLEAR_VALUE	BIT(1)
#define SBI_PMU_CFG_FLAG_AUTO_START	BIT(2)
#define SBI_PMU_CFG_FLAG_SET_VUINH	BIT(3)
#define SBI_PMU_CFG_FLAG_SET_VSINH	BIT(4)
#define SBI_PMU_CFG_FLAG_SET_UINH	BIT(5)
#define SBI_PMU_CFG_FLAG_SET_SINH	BIT(6)
#define SBI_PMU_CFG_FLAG_SET_MINH	BIT(7)
#define SBI_PMU_START_FLAG_SET_INIT_VALUE	BIT(0)
#define SBI_PMU_STOP_FLAG_RESET		BIT(0)

#define SBI_PMU_HW_NO_EVENT		0
#define SBI_PMU_HW_CPU_CYCLES		1
#define SBI_PMU_HW_INSTRUCTIONS		2
#define SBI_PMU_HW_GENERAL_MAX		11

#define SBI_ERR_FAILURE			(-1)
#define SBI_ERR_NOT_SUPPORTED		(-2)
#define SBI_ERR_INVALID_PARAM		(-3)
#define SBI_ERR_ALREADY_STARTED		(-7)
#define SBI_ERR_ALREADY_STOPPED		(-8)

struct sbiret {
	long error;
	long value;
};

union sbi_pmu_ctr_info {
	unsigned long value;
	struct {
		unsigned long csr : 12;
		unsigned long width : 6;
		unsigned long reserved : 45;
		unsigned long type : 1;
	};
};

extern unsigned long sbi_spec_version;
static inline unsigned long sbi_mk_version(unsigned long major, unsigned long minor)
{
	return major << 24 | minor;
}

long sbi_probe_extension(int ext);
struct sbiret sbi_ecall(int ext, int fid, unsigned long a0, unsigned long a1, unsigned long a2,
			unsigned long a3, unsigned long a4, unsigned long a5);

#endif /* SHIM_ASM_SBI_H */
