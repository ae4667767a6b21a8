// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the counters of Intel's P5, of its clones, and of VIA's C3, each with exact numbers,
 * on a processor without an operating system. It says "ok" or "not ok" for each rule.
 *
 * The rules are those of perfctr 2.6's low-level-x86.txt, of Intel's Software Developer's Manual,
 * volume 3 ("Performance Monitoring (Pentium Processors)"), and of Cyrix's M II data book, 2.7 and
 * 2.8. Beside them the emulated processor has some of its own, where no manual is at hand or silicon
 * is not exact: an instruction is one clock, and so is each iteration of a string instruction; what
 * is reserved faults; WinChips' and the C3's counters have 40 bits.
 */
#include <stdbool.h>
#include <stdint.h>

#include "rules.h"
#include "rules_io.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define CESR		0x11u
#define CTR0		0x12u
#define C3_PERFCTR0	0xc1u
#define C3_EVNTSEL0	0x186u

#define OS		0x40u	/* of a half of CESR */
#define USR		0x80u
#define CLOCKS		0x100u

#define CR4_PCE		0x100u

#define FEW		1000u	/* turns */
#define MANY		11000u
#define TURNS		((uint64_t)MANY - FEW)

#define APIC_VERSION	((const volatile uint32_t *)0xfee00030)

struct gate {
	uint16_t low, selector, flags, high;
};

struct pointer {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

int main(void);
void set_up(void);

uint32_t in_user_mode(void (*code)(void), uint32_t arg);
uint32_t in_kernel_mode(void (*code)(void), uint32_t arg);
void on_ud(void);
void on_gp(void);
void on_user(void);
void loop(void);
void string(void);
void read_pmc(void);
extern volatile uint32_t recover, fault;
extern volatile uint64_t pmc;

extern const struct pointer gdt_pointer, idt_pointer;
extern uint32_t task[26];
uint32_t task[26];
static uint64_t gdt[7];
static struct gate idt[GATE_USER + 1];
const struct pointer gdt_pointer = { sizeof(gdt) - 1, (uint32_t)gdt };
const struct pointer idt_pointer = { sizeof(idt) - 1, (uint32_t)idt };

static void set_gate(unsigned int n, void (*code)(void), uint16_t flags)
{
	uint32_t address = (uint32_t)code;

	idt[n] = (struct gate){ address & 0xffff, CODE_0, flags, address >> 16 };
}

/* Flat segments, and a task whose only use is the stack of kernel mode */
void set_up(void)
{
	uint32_t address = (uint32_t)task;

	gdt[CODE_0 / 8] = 0x00cf9a000000ffffull;
	gdt[DATA_0 / 8] = 0x00cf92000000ffffull;
	gdt[CODE_3 / 8] = 0x00cffa000000ffffull;
	gdt[DATA_3 / 8] = 0x00cff2000000ffffull;
	gdt[TASK / 8] = 0x0000890000000067ull | (uint64_t)(address & 0xffffff) << 16 |
			(uint64_t)(address >> 24) << 56;
	task[2] = DATA_0;
	task[25] = sizeof(task) << 16;
	set_gate(UD, on_ud, 0x8e00);
	set_gate(GP, on_gp, 0x8e00);
	set_gate(GATE_USER, on_user, 0xee00);
}

/* 0, or the fault */
static uint32_t write_msr(uint32_t msr, uint64_t value)
{
	fault = 0;
	__asm__ volatile("movl $1f, recover; wrmsr; 1:"
			 : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
	return fault;
}

static uint32_t read_msr(uint32_t msr, uint64_t *value)
{
	uint32_t low = 0, high = 0;

	fault = 0;
	__asm__ volatile("movl $1f, recover; rdmsr; 1:"
			 : "+a"(low), "+d"(high) : "c"(msr) : "memory");
	*value = (uint64_t)high << 32 | low;
	return fault;
}

static uint64_t msr(uint32_t number)
{
	uint64_t value = 0;

	check(read_msr(number, &value), 0, "RDMSR of %x", number);
	return value;
}

static uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static void cpuid(uint32_t leaf, uint32_t *regs)
{
	__asm__ volatile("cpuid" : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(0));
}

static void permit_rdpmc(bool permit)
{
	uint32_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	cr4 = permit ? cr4 | CR4_PCE : cr4 & ~CR4_PCE;
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
}

/* What a processor has */
static const struct cpu {
	const char *name;
	char vendor[13];
	uint8_t family, model, last_model;
	int8_t mmx;		/* -1: either */
	uint64_t good;		/* bits of a half, or of the C3's event select */
	uint32_t width;
	bool modes;
	bool rdpmc;
	bool c3;
	uint32_t instructions, clocks;	/* events */
	uint32_t clock_counters;	/* that count the latter */
	uint32_t iterations;	/* instructions, and iterations of string instructions */
} cpus[] = {
#define MODES	.modes = true, .instructions = 0x16, .iterations = 0x16 | CLOCKS
	{ "P5", "GenuineIntel", 5, 0, 15, 0, 0x3ff, 40, MODES },
	{ "P5 MMX", "GenuineIntel", 5, 0, 15, 1, 0x3ff, 40, MODES, .rdpmc = true, .clocks = 0x30,
	  .clock_counters = 1 },
	{ "MII", "CyrixInstead", 6, 0, 15, -1, 0x7ff, 48, MODES, .rdpmc = true },
	{ "C6", "CentaurHauls", 5, 4, 4, -1, 0xff, 40, .rdpmc = true, .instructions = 0x02,
	  .clocks = 0, .clock_counters = 3, .iterations = 0 },
	{ "WinChip 2", "CentaurHauls", 5, 8, 9, -1, 0xff, 40, .rdpmc = true, .instructions = 0x16,
	  .clocks = 0x3f, .clock_counters = 3, .iterations = 0x3f },
	{ "C3", "CentaurHauls", 6, 6, 9, -1, 0x1ff, 40, .rdpmc = true, .c3 = true,
	  .instructions = 0xc0, .clocks = 0x79, .clock_counters = 2, .iterations = 0x1c0 },
};

static const struct cpu *cpu;

static bool find_cpu(void)
{
	uint32_t zero[4], one[4], family, model, i;
	char vendor[13] = "";

	cpuid(0, zero);
	cpuid(1, one);
	for (i = 0; i < 4; i++) {
		vendor[i] = (char)(zero[1] >> 8 * i);
		vendor[4 + i] = (char)(zero[3] >> 8 * i);
		vendor[8 + i] = (char)(zero[2] >> 8 * i);
	}
	family = one[0] >> 8 & 0xf;
	model = one[0] >> 4 & 0xf;
	for (cpu = cpus; cpu < cpus + ARRAY_SIZE(cpus); cpu++) {
		int8_t mmx = one[3] >> 23 & 1;

		for (i = 0; i < 12 && vendor[i] == cpu->vendor[i]; i++)
			;
		if (i == 12 && family == cpu->family && model >= cpu->model &&
		    model <= cpu->last_model && (cpu->mmx < 0 || cpu->mmx == mmx))
			return true;
	}
	say("%s, family %u, model %u: not known\n", vendor, family, model);
	return false;
}

/* The numbers of the counters, and the registers */
static uint32_t first(void)
{
	return cpu->c3;
}

static uint32_t counter(uint32_t i)
{
	return (cpu->c3 ? C3_PERFCTR0 : CTR0) + i;
}

static uint32_t control(void)
{
	return cpu->c3 ? C3_EVNTSEL0 + 1 : CESR;
}

/* The control of counter @i, the other one's being zero */
static uint64_t for_counter(uint32_t i, uint64_t value)
{
	return cpu->c3 ? value : value << 16 * i;
}

static uint64_t both_halves(uint64_t value)
{
	return cpu->c3 ? value : value | value << 16;
}

/* What a counter counts of the code with so many turns, and around it */
static uint64_t count_once(uint32_t i, uint32_t (*mode)(void (*)(void), uint32_t),
			   void (*code)(void), uint32_t turns)
{
	uint64_t before = 0, after = 0, mask = (1ull << cpu->width) - 1;

	read_msr(counter(i), &before);
	mode(code, turns);
	read_msr(counter(i), &after);
	return (after - before) & mask;
}

/* ... of more turns, without what is around */
static uint64_t count(uint32_t i, uint32_t (*mode)(void (*)(void), uint32_t), void (*code)(void))
{
	uint64_t few = count_once(i, mode, code, FEW);

	return count_once(i, mode, code, MANY) - few;
}

/*
 * Registers
 */

static void which_bits(void)
{
	uint64_t good = both_halves(cpu->good), value;
	uint32_t bit;

	for (bit = 0; bit < 64; bit++) {
		write_msr(control(), 0);
		check(write_msr(control(), 1ull << bit), good >> bit & 1 ? 0 : GP,
		      "WRMSR of bit %u of %x", bit, control());
		read_msr(control(), &value);
		check(value, good >> bit & 1 ? 1ull << bit : 0,
		      "%x keeps bit %u, or nothing", control(), bit);
	}
	check(write_msr(control(), good), 0, "WRMSR of all bits");
	check(msr(control()), good, "all bits are kept");
	check(write_msr(control(), 0), 0, "WRMSR of none");
}

static void counters_keep(void)
{
	uint64_t mask = (1ull << cpu->width) - 1, value;
	uint32_t i;

	for (i = first(); i < 2; i++) {
		/* Those that never stop count clocks, or nothing. */
		write_msr(control(), cpu->modes ? 0 : both_halves(0x55));
		check(write_msr(counter(i), 0x123456789aull), 0, "WRMSR of counter %u", i);
		check(msr(counter(i)), 0x123456789aull & mask, "counter %u keeps 40 bits", i);
		check(write_msr(counter(i), ~0ull), 0, "WRMSR of all of counter %u", i);
		check(msr(counter(i)), mask, "counter %u has %u bits", i, cpu->width);
		write_msr(counter(i), 0);
		read_msr(counter(i), &value);
		check(value, 0, "counter %u is zero", i);
	}
}

static void wraps(void)
{
	uint64_t mask = (1ull << cpu->width) - 1, value;
	uint32_t i;

	for (i = first(); i < 2; i++) {
		write_msr(control(), for_counter(i, cpu->instructions | (cpu->modes ? OS | USR : 0)));
		write_msr(counter(i), mask - 500);
		in_user_mode(loop, FEW);
		read_msr(counter(i), &value);
		check(value > 2 * FEW - 501 && value < 2 * FEW, true, "counter %u wraps", i);
	}
}

/* The others' numbers are nobody's. */
static void others_registers(void)
{
	uint64_t value = 0, before;

	if (!cpu->c3) {
		write_msr(CESR, both_halves(cpu->instructions));
		check(read_msr(C3_EVNTSEL0, &value), 0, "186h is no counter's");
		check(value, 0, "and reads as zero");
		return;
	}
	check(write_msr(C3_EVNTSEL0, 0x79), GP, "EVNTSEL0 is read-only");
	check(write_msr(C3_PERFCTR0, 0), GP, "PERFCTR0 is read-only here");
	check(msr(C3_EVNTSEL0), 0x79, "EVNTSEL0 has the event of clocks");
	before = tsc();
	read_msr(C3_PERFCTR0, &value);
	check(value - (before & 0xffffffffffull) < 1000, true, "PERFCTR0 is the TSC");
	check(in_kernel_mode(read_pmc, 0), 0, "RDPMC of 0");
	check(pmc - value < 1000, true, "and so is RDPMC's counter 0");
}

/*
 * Counting
 */

static void modes(void)
{
	static const uint32_t mode_bits[] = { 0, OS, USR, OS | USR };
	uint32_t i, m;

	for (i = first(); i < 2; i++) {
		for (m = 0; m < 4; m++) {
			bool os = !cpu->modes || m & 1, usr = !cpu->modes || m & 2;

			/* Without modes these bits are of the event. */
			if (!cpu->modes && m)
				continue;
			write_msr(control(), for_counter(i, cpu->instructions | mode_bits[m]));
			check(count(i, in_kernel_mode, loop), os ? 2 * TURNS : 0,
			      "counter %u, modes %x: kernel mode", i, mode_bits[m]);
			check(count(i, in_user_mode, loop), usr ? 2 * TURNS : 0,
			      "counter %u, modes %x: user mode", i, mode_bits[m]);
		}
	}
}

static void events(void)
{
	uint32_t both = cpu->modes ? OS | USR : 0, i;

	for (i = first(); i < 2; i++) {
		write_msr(control(), for_counter(i, cpu->iterations | both));
		check(count(i, in_user_mode, string), TURNS, "counter %u: iterations", i);
		check(count(i, in_user_mode, loop), 2 * TURNS, "counter %u: clocks of a loop", i);
		write_msr(control(), for_counter(i, cpu->instructions | both));
		check(count(i, in_user_mode, string), 0, "counter %u: no iterations", i);
		if (cpu->modes) {
			write_msr(control(), for_counter(i, 0x12 | both));
			check(count(i, in_user_mode, loop), TURNS, "counter %u: branches", i);
			write_msr(control(), for_counter(i, 0x12 | both | CLOCKS));
			check(count(i, in_user_mode, loop), TURNS, "counter %u: clocks of branches", i);
			/* Reserved codes count nothing. */
			write_msr(control(), for_counter(i, 0x10 | both));
			check(count(i, in_user_mode, loop), 0, "counter %u: code 10h", i);
			write_msr(control(), for_counter(i, CLOCKS | cpu->instructions));
			check(count(i, in_user_mode, loop), 0, "counter %u: clocks in no mode", i);
		}
		if (!cpu->clock_counters)
			continue;
		write_msr(control(), for_counter(i, cpu->clocks | both));
		check(count(i, in_user_mode, loop), cpu->clock_counters >> i & 1 ? 2 * TURNS : 0,
		      "counter %u: the event of clocks", i);
	}
}

/* The halves are each other's neighbours, and no more. */
static void halves(void)
{
	uint32_t both = cpu->modes ? OS | USR : 0;
	uint64_t event = cpu->instructions | both, other = 0x10 | both;

	if (cpu->c3)
		return;
	write_msr(CESR, event << 16 | other);
	check(count(1, in_user_mode, loop), 2 * TURNS, "the second half is the second counter's");
	check(count(0, in_user_mode, loop), 0, "and the first one's counts nothing");
	write_msr(CESR, other << 16 | event);
	check(count(0, in_user_mode, loop), 2 * TURNS, "the first half is the first counter's");
	check(count(1, in_user_mode, loop), 0, "and the second one's counts nothing");
	write_msr(CESR, event << 16 | event);
	check(count(0, in_user_mode, loop), 2 * TURNS, "both count: the first");
	check(count(1, in_user_mode, loop), 2 * TURNS, "both count: the second");
}

static void never_stops(void)
{
	uint32_t i;

	for (i = first(); i < 2; i++) {
		write_msr(control(), both_halves(cpu->instructions | (cpu->modes ? OS | USR : 0)));
		write_msr(control(), 0);
		/* Zero is an event, which the C6 counts; and no mode, where there are modes. */
		check(count(i, in_user_mode, loop), !cpu->modes && !cpu->clocks && !cpu->c3 ? 2 * TURNS : 0,
		      "counter %u: a control of zero", i);
	}
}

/*
 * RDPMC
 */

static void rdpmc(void)
{
	uint64_t value;
	uint32_t i;

	write_msr(control(), cpu->modes ? 0 : both_halves(0x55));
	for (i = first(); i < 2; i++)
		write_msr(counter(i), 0x1122334455ull + i);
	permit_rdpmc(true);
	for (i = first(); i < 2; i++) {
		pmc = 0;
		check(in_kernel_mode(read_pmc, i), cpu->rdpmc ? 0 : UD, "RDPMC of %u in kernel mode", i);
		read_msr(counter(i), &value);
		check(pmc, cpu->rdpmc ? value : 0, "RDPMC of %u reads what RDMSR does", i);
		pmc = 0;
		check(in_user_mode(read_pmc, i), cpu->rdpmc ? 0 : UD, "RDPMC of %u in user mode", i);
		check(pmc, cpu->rdpmc ? value : 0, "and reads the same");
	}
	check(in_kernel_mode(read_pmc, 2), cpu->rdpmc ? GP : UD, "RDPMC of 2");
	check(in_kernel_mode(read_pmc, 0x40000000), cpu->rdpmc ? GP : UD, "RDPMC of a fixed counter");
	permit_rdpmc(false);
	check(in_user_mode(read_pmc, 1), cpu->rdpmc ? GP : UD, "RDPMC in user mode without CR4.PCE");
	check(in_kernel_mode(read_pmc, 1), cpu->rdpmc ? 0 : UD, "RDPMC in kernel mode without CR4.PCE");
}

/*
 * Around the counters
 */

/* The local APIC has no LVTPC: its last entry is the fourth. */
static void no_lvtpc(void)
{
	uint32_t one[4];

	cpuid(1, one);
	if (one[3] >> 9 & 1)
		check(*APIC_VERSION >> 16 & 0xff, 3, "the local APIC's MAXLVT");
}

static uint8_t get_config(uint8_t index)
{
	out8(0x22, index);
	return in8(0x23);
}

static void set_config(uint8_t index, uint8_t value)
{
	out8(0x22, index);
	out8(0x23, value);
}

/* DIR0 says 5xh: 6x86MX or M II. Each access of port 23h needs its own of 22h. */
static void device_id(void)
{
	uint8_t ccr3;

	if (cpu->family != 6 || cpu->c3)
		return;
	check(get_config(0xfe) >> 4, 5, "DIR0");
	check(in8(0x23), 0xff, "port 23h without an index");
	ccr3 = get_config(0xc3);
	set_config(0xc3, ccr3 ^ 0x80);
	check(get_config(0xc3), ccr3 ^ 0x80, "CCR3 keeps what is written");
	set_config(0xc3, ccr3 & 0x0f);
	set_config(0xe8, 0x80);
	check(get_config(0xe8), 0xff, "CCR4 without MAPEN");
	set_config(0xc3, (ccr3 & 0x0f) | 0x10);
	set_config(0xe8, 0x80);
	check(get_config(0xe8), 0x80, "CCR4 with MAPEN");
	set_config(0xfe, 0);
	check(get_config(0xfe) >> 4, 5, "DIR0 is read-only");
	set_config(0xc3, ccr3);
}

int main(void)
{
	check(find_cpu(), true, "the processor is known");
	if (cpu < cpus + ARRAY_SIZE(cpus)) {
		say("%s\n", cpu->name);
		which_bits();
		counters_keep();
		wraps();
		others_registers();
		modes();
		events();
		halves();
		never_stops();
		rdpmc();
		no_lvtpc();
		device_id();
	}
	io_end();
}
