/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_p4.c, in two files */
#ifndef TEST_P4_H
#define TEST_P4_H

#include "tests.h"
#include "arch/x86/intel/p4.h"

#define INSNS		P4_ESCR(0x02, 1)
#define BRANCHES	P4_ESCR(0x06, 0xf)
#define REPLAYS		P4_ESCR(0x09, 1)
#define CYCLES		P4_ESCR(0x13, 1)
#define STORES		P4_ESCR(0x05, 1)
#define BRANCH_TYPES	P4_ESCR(0x04, 0x1e)
#define TAG		BIT(24)		/* PEBS_ENABLE's UOP_TAG */

int check_one(const struct perfctr_ctr_control *ctr, struct perfctr_refusal *why);

/* Called by test_p4() */
void test_p4_ways(void);

#endif
