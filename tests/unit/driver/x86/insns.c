// SPDX-License-Identifier: GPL-2.0
/*
 * RDPMC and RDMSR, which the driver has in assembly, are calls here. They change no other
 * register than the instruction does. One that faults goes on where the driver's exception
 * table says, or fails the test if the table has no entry.
 */
#include <asm/segment.h>
#include <check.h>
#include <signal.h>
#include <ucontext.h>

#include "x86/model_msr.h"

#define CALL	5	/* bytes */

struct fixup {
	unsigned long from;
	unsigned long to;
};

/* The linker's names for the bounds of the section */
extern const struct fixup fixups[] asm("__start_shim_extable") __attribute__((__weak__));
extern const struct fixup fixups_end[] asm("__stop_shim_extable") __attribute__((__weak__));

u64 shim_rdpmc_c(u32 counter, unsigned long *ret) asm("shim_rdpmc_c");
u64 shim_rdmsr_c(u32 msr, unsigned long *ret) asm("shim_rdmsr_c");

static u64 fault(const char *insn, u32 of, unsigned long *ret)
{
	const struct fixup *fixup;

	for (fixup = fixups; fixup != fixups_end; fixup++) {
		if (fixup->from == *ret - CALL) {
			*ret = fixup->to;
			return 0;
		}
	}
	ck_abort_msg("%s of %#x: #GP", insn, of);
	return 0;
}

u64 shim_rdpmc_c(u32 counter, unsigned long *ret)
{
	u64 value;

	if (!model_rdpmc(counter, &value))
		return fault("RDPMC", counter, ret);
	if (model_perf_between)
		model_perf_between();
	return value;
}

u64 shim_rdmsr_c(u32 msr, unsigned long *ret)
{
	u64 value;

	return shim_rdmsr_safe(msr, &value) ? value : fault("RDMSR", msr, ret);
}

unsigned int shim_gs;
static struct sigaction before;

/*
 * Reads of CR4 fault here: this emulates that one instruction. With REX.B the register is one
 * of the upper eight.
 */
static void segv(int signo, siginfo_t *info, void *context)
{
	static const int regs[] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const u8 *insn = (const u8 *)gregs[REG_RIP];
	unsigned int high = *insn == 0x41 ? 8 : 0;

	(void)info;
	insn += high / 8;
	if (insn[0] != 0x0f || insn[1] != 0x20 || (insn[2] & 0xf8) != 0xe0) {
		(void)sigaction(signo, &before, NULL);
		return;
	}
	gregs[regs[(insn[2] & 7) + high]] = model_pce[shim_cpu] ? X86_CR4_PCE : 0;
	gregs[REG_RIP] = (greg_t)(insn + 3);
}

static __attribute__((__constructor__)) void catch_reads_of_cr4(void)
{
	struct sigaction action = { .sa_sigaction = segv, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGSEGV, &action, &before))
		abort();
}

/* The caller does not know that this is a call, so all that C may change is kept. */
asm(".macro	shim_insn name:req\n"
    "	.globl	shim_\\name\\()_insn\n"
    "shim_\\name\\()_insn:\n"
    "	push	%rbp\n"
    "	mov	%rsp, %rbp\n"
    "	push	%rcx\n"
    "	push	%rsi\n"
    "	push	%rdi\n"
    "	push	%r8\n"
    "	push	%r9\n"
    "	push	%r10\n"
    "	push	%r11\n"
    "	sub	$512, %rsp\n"
    "	and	$-64, %rsp\n"
    "	fxsave	(%rsp)\n"
    "	mov	%ecx, %edi\n"
    "	lea	8(%rbp), %rsi\n"
    "	call	shim_\\name\\()_c\n"
    "	fxrstor	(%rsp)\n"
    "	mov	%rax, %rdx\n"
    "	shr	$32, %rdx\n"
    "	mov	%eax, %eax\n"
    "	lea	-56(%rbp), %rsp\n"
    "	pop	%r11\n"
    "	pop	%r10\n"
    "	pop	%r9\n"
    "	pop	%r8\n"
    "	pop	%rdi\n"
    "	pop	%rsi\n"
    "	pop	%rcx\n"
    "	pop	%rbp\n"
    "	ret\n"
    ".endm\n"
    "	.text\n"
    "	shim_insn rdpmc\n"
    "	shim_insn rdmsr\n");
