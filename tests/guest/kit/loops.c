// SPDX-License-Identifier: GPL-2.0
/* What loops.h has beside assembly. */
#define _GNU_SOURCE
#include "kit/loops.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

/* The assembly sources know these by number. */
_Static_assert(offsetof(struct perfctr_page, seq) == 4, "PAGE_SEQ");
_Static_assert(offsetof(struct perfctr_page, map) == 32, "PAGE_MAP");
_Static_assert(offsetof(struct perfctr_page, slot) == 288, "PAGE_SLOT");
_Static_assert(offsetof(struct perfctr_page, operand) == 1344, "PAGE_OPERAND");
_Static_assert(offsetof(struct perfctr_page_slot, bias) == 8, "SLOT_BIAS");
_Static_assert(sizeof(struct perfctr_page_slot) == 16, "shift of the map");
_Static_assert(sizeof(struct perfctr_read) == 584, "READ_SIZEOF");

static volatile sig_atomic_t refused;

#if defined(__riscv)

#define ECALL 0x00000073u

unsigned int sigreturn_length(void)
{
	const uint16_t *insn = (const uint16_t *)loops_return;
	unsigned int n;
	uint32_t word;

	if (!insn)
		return 0;
	for (n = 1; n < 16; n++) {
		memcpy(&word, insn, sizeof(word));
		if (word == ECALL)
			return n;
		/* Instructions whose low bits are not 11 have 16 bits. */
		insn += (word & 3) == 3 ? 2 : 1;
	}
	return 0;
}

static void step_over(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	refused = 1;
	uc->uc_mcontext.__gregs[REG_PC] += 4;
}

#elif defined(__aarch64__) || defined(__powerpc__)

#if defined(__aarch64__)
#define SYSTEM_CALL	0xd4000001u	/* svc #0 */
#define NEXT_INSN(uc)	((uc)->uc_mcontext.pc)
#else
#define SYSTEM_CALL	0x44000002u	/* sc */
#define NEXT_INSN(uc)	((uc)->uc_mcontext.uc_regs->gregs[32])	/* NIP */
#endif

unsigned int sigreturn_length(void)
{
	const uint32_t *insn = (const uint32_t *)loops_return;
	unsigned int n;

	if (!insn)
		return 0;
	for (n = 1; n < 16; n++)
		if (*insn++ == SYSTEM_CALL)
			return n;
	return 0;
}

static void step_over(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	refused = 1;
	NEXT_INSN(uc) += 4;
}

#else

#if defined(__x86_64__)

#define REG_IP	REG_RIP

unsigned int sigreturn_length(void)
{
	return 2;	/* mov $15, %rax; syscall */
}

#else

#define REG_IP	REG_EIP

unsigned int sigreturn_length(void)
{
	/* pop %eax, where the handler has one argument; mov $..., %eax; int $0x80 */
	const uint8_t *insn = (const uint8_t *)loops_return;
	unsigned int pop = insn && *insn == 0x58;

	if (!insn || insn[pop] != 0xb8 || insn[pop + 5] != 0xcd)
		return 0;
	return pop + 2;
}

#endif

static void step_over(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	refused = 1;
	uc->uc_mcontext.gregs[REG_IP] += 2;
}

#endif

bool try_read_register(unsigned int n, uint64_t *value)
{
	struct sigaction ill, segv, catch;
	uint64_t held;

	memset(&catch, 0, sizeof(catch));
	catch.sa_sigaction = step_over;
	catch.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &catch, &ill);
	sigaction(SIGSEGV, &catch, &segv);
	refused = 0;
	held = read_register(n);
	sigaction(SIGILL, &ill, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	*value = refused ? 0 : held;
	return !refused;
}

int may_read_register(unsigned int n)
{
	uint64_t unused;

	return try_read_register(n, &unused);
}
