/* SPDX-License-Identifier: GPL-2.0 */
/* What rules.c and rules_asm.S share */
#ifndef RULES_H
#define RULES_H

/* Special purpose registers, by their numbers in all the user's manuals */
#define SPR_DEC		22
#define SPR_SRR0	26
#define SPR_SRR1	27
#define SPR_TBL		268
#define SPR_PVR		287
#define SPR_MMCR2	944
#define SPR_PMC5	945
#define SPR_PMC6	946
#define SPR_BAMR	951
#define SPR_MMCR0	952
#define SPR_PMC1	953
#define SPR_PMC2	954
#define SPR_SIAR	955
#define SPR_MMCR1	956
#define SPR_PMC3	957
#define SPR_PMC4	958
#define SPR_SDA		959
/* The copy for user mode has a number that is less by: */
#define SPR_USER	16

/* MSR; EP: the vectors are in ROM */
#define MSR_EE		0x8000
#define MSR_PR		0x4000
#define MSR_ME		0x1000
#define MSR_EP		0x0040
#define MSR_DR		0x0010
#define MSR_PM		0x0004
#define MSR_KERNEL	(MSR_ME | MSR_EP)

/* In struct seen */
#define SEEN_PMIS	0
#define SEEN_SRR0	4
#define SEEN_SRR1	8
#define SEEN_MMCR0	12
#define SEEN_SIAR	16
#define SEEN_TBL		20
#define SEEN_LIMIT	24
#define SEEN_FAULTS	28
#define SEEN_FAULT_SRR1	32
#define SEEN_ORDER	36
#define SEEN_R20		40
#define SEEN_R21		44

#endif /* RULES_H */
