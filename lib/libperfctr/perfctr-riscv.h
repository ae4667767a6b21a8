/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of perfctr-inline.h that depend on the architecture, for RISC-V. */
#ifndef PERFCTR_RISCV_H
#define PERFCTR_RISCV_H

/* The slot of the clock, the time CSR */
#define PERFCTR_CLOCK_SLOT	1u

PERFCTR_INLINE __u64 perfctr_thread_pointer(void)
{
	return (__u64)(unsigned long)__builtin_thread_pointer();
}

/*
 * The instruction that reads a CSR contains the CSR's number. So each CSR has a stub of 16 bytes.
 * Slots of the page have 16 bytes too, so map[i] in the page is the offset both of counter i's stub
 * and of its slot. A program or library has one copy of the table (a comdat group).
 *
 * Stubs 32 to 64 read no register. No slot in use leads to these stubs. But a signal handler may
 * stop the counters in the middle of a snapshot. Then the snapshot uses the new map, jumps to such
 * a stub, and sees only afterwards that the sequence count has changed.
 *
 * The registers t0 and t2 are not arbitrary. The return-address predictor takes a jump that links
 * in t0 for a call, and a jump through t0 for a return. With Zicfilp a jump through t2 needs no
 * landing pad.
 */
#define PERFCTR_CSR_STUBS						\
	".ifndef perfctr_csr_stubs\n\t"					\
	".pushsection .text.perfctr_csr_stubs,\"axG\",@progbits,"	\
		"perfctr_csr_stubs,comdat\n\t"				\
	".option push\n\t"						\
	".option norvc\n\t"						\
	".option norelax\n\t"						\
	".weak perfctr_csr_stubs\n\t"					\
	".hidden perfctr_csr_stubs\n\t"					\
	".type perfctr_csr_stubs,@function\n\t"				\
	".balign 16\n"							\
	"perfctr_csr_stubs:\n\t"					\
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"			\
		"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"	\
	"csrr t1, 0xc00 + \\n\n\t"					\
	"jr t0\n\t"							\
	".balign 16\n\t"						\
	".endr\n\t"							\
	".rept 33\n\t"							\
	"li t1, 0\n\t"							\
	"jr t0\n\t"							\
	".balign 16\n\t"						\
	".endr\n\t"							\
	".size perfctr_csr_stubs, . - perfctr_csr_stubs\n\t"		\
	".option pop\n\t"						\
	".popsection\n\t"						\
	".endif\n\t"

PERFCTR_INLINE void perfctr_fence(void)
{
	__asm__ __volatile__ ("fence iorw, iorw" : : : "memory");
}

/* Returns the byte offset of counter @i's slot. The asm makes the compiler load the offset once. */
PERFCTR_INLINE unsigned long perfctr_page_place(const struct perfctr_page *page,
						unsigned int i)
{
	unsigned long offset = page->map[i];

	__asm__ __volatile__ ("" : "+r" (offset));
	return offset;
}

/*
 * Returns the slot at this offset, as slot[0] of an imagined page that begins @offset bytes later.
 * So loads from the slot have constant displacements, which saves an addition.
 */
PERFCTR_INLINE const struct perfctr_page_slot *
perfctr_place_slot(const struct perfctr_page *page, unsigned long offset)
{
	const void *shifted = (const char *)page + offset;

	return &((const struct perfctr_page *)shifted)->slot[0];
}

/*
 * Returns the count of the slot at this offset: the bias plus the register. The displacement of the
 * jump is the low part of the address of the stubs. Without norelax the linker might drop the auipc
 * and make the jump relative to gp.
 */
PERFCTR_INLINE __u64 perfctr_place_count(const struct perfctr_page *page,
					 unsigned long offset)
{
	__u64 bias = perfctr_place_slot(page, offset)->bias;

	__asm__ __volatile__ (
		PERFCTR_CSR_STUBS
		".option push\n\t"
		".option norelax\n"
		"1:\tauipc t2, %%pcrel_hi(perfctr_csr_stubs)\n\t"
		"add t2, t2, %1\n\t"
		"jalr t0, %%pcrel_lo(1b)(t2)\n\t"
		"add %0, %0, t1\n\t"
		".option pop"
		: "+r" (bias) : "r" (offset) : "t0", "t1", "t2");
	return bias;
}

/* Returns 1 if counter @i is in register @reg, else 0. */
PERFCTR_INLINE int perfctr_page_counts_on(const struct perfctr_page *page, unsigned int i,
					  unsigned int reg)
{
	return page->map[i] == reg * sizeof(page->slot[0]);
}

PERFCTR_INLINE const struct perfctr_page_slot *
perfctr_reg_slot(const struct perfctr_page *page, unsigned int reg)
{
	return &page->slot[reg];
}

#define PERFCTR_READ_CSR(n)						\
	case n:								\
		__asm__ __volatile__ ("csrr %0, 0xc00 + " #n : "=r" (value)); \
		break

/* Reads register @n. If @n is a constant, the compiler removes the switch. */
PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	unsigned long value = 0;

	switch (n) {
	PERFCTR_READ_CSR(0);
	PERFCTR_READ_CSR(1);
	PERFCTR_READ_CSR(2);
	PERFCTR_READ_CSR(3);
	PERFCTR_READ_CSR(4);
	PERFCTR_READ_CSR(5);
	PERFCTR_READ_CSR(6);
	PERFCTR_READ_CSR(7);
	PERFCTR_READ_CSR(8);
	PERFCTR_READ_CSR(9);
	PERFCTR_READ_CSR(10);
	PERFCTR_READ_CSR(11);
	PERFCTR_READ_CSR(12);
	PERFCTR_READ_CSR(13);
	PERFCTR_READ_CSR(14);
	PERFCTR_READ_CSR(15);
	PERFCTR_READ_CSR(16);
	PERFCTR_READ_CSR(17);
	PERFCTR_READ_CSR(18);
	PERFCTR_READ_CSR(19);
	PERFCTR_READ_CSR(20);
	PERFCTR_READ_CSR(21);
	PERFCTR_READ_CSR(22);
	PERFCTR_READ_CSR(23);
	PERFCTR_READ_CSR(24);
	PERFCTR_READ_CSR(25);
	PERFCTR_READ_CSR(26);
	PERFCTR_READ_CSR(27);
	PERFCTR_READ_CSR(28);
	PERFCTR_READ_CSR(29);
	PERFCTR_READ_CSR(30);
	PERFCTR_READ_CSR(31);
	default:
		break;
	}
	return value;
}

#undef PERFCTR_READ_CSR

#endif /* PERFCTR_RISCV_H */
