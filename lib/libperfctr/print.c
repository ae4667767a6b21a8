// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prints structures for people on stdout, with one member on each line. */
#include <stdio.h>

#include "internal.h"

static void print_flags(unsigned int flags)
{
	static const char *const names[] = {
		"rdpmc", "rdtsc", "pcint", "filter", "filter_fixed", "hybrid", "native", "shared",
		"hypervisor", "unknown_model", "topdown",
	};
	const char *comma = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(flags & (1u << i)))
			continue;
		printf("%s%s", comma, names[i]);
		comma = ",";
	}
}

void perfctr_info_print(const struct perfctr_info *info)
{
	static const char *const policies[] = {
		[PERFCTR_USER_READ_OFF] = "off",
		[PERFCTR_USER_READ_GUARDED] = "guarded",
		[PERFCTR_USER_READ_OPEN] = "open",
	};
	static const char *const in_use[] = {
		[PERFCTR_SOURCE_NATIVE] = "native, or none",
		[PERFCTR_SOURCE_SHARED] = "shared",
		[PERFCTR_SOURCE_ANY] = "native and shared",
	};

	printf("abi_version\t\t0x%08x\n", info->abi_version);
	printf("driver_version\t\t%.*s\n", (int)sizeof(info->driver_version),
	       info->driver_version);
	printf("cpu_type\t\t%u (%s)\n", info->cpu_type, perfctr_info_cpu_name(info));
	if (info->own_cpu_type != info->cpu_type)
		printf("own_cpu_type\t\t%u (PERFCTR_CPU_TYPE has it reported as the other)\n",
		       info->own_cpu_type);
	printf("cpu_features\t\t0x%x (", info->cpu_features);
	print_flags(info->cpu_features);
	printf(")\n");
	if (info->cpu_khz)
		printf("cpu_khz\t\t\t%u\n", info->cpu_khz);
	else
		printf("cpu_khz\t\t\tunknown\n");
	if (info->tsc_to_cpu_mult)
		printf("tsc_to_cpu_mult\t\t%u\n", info->tsc_to_cpu_mult);
	else
		printf("tsc_to_cpu_mult\t\tunknown\n");
	printf("tsc_hz\t\t\t%llu\n", info->tsc_hz);
	printf("cpu_nrctrs\t\t%u\n", perfctr_info_nrctrs(info));
	printf("counters\t\t0x%llx\n", info->counters);
	printf("width\t\t\t%u\n", info->width);
	printf("user_read\t\t%s\n", info->user_read < ARRAY_SIZE(policies) ?
	       policies[info->user_read] : "unknown");
	printf("source_in_use\t\t%s\n", info->source < ARRAY_SIZE(in_use) ?
	       in_use[info->source] : "unknown");
}

/* Prints the numbers of CPUs in a mask as "0-3,6". */
static void print_mask(const char *title, const struct perfctr_cpu_mask *mask)
{
	unsigned int cpu, first, n = mask->nrwords * 32;
	const char *comma = "";

	printf("%s", title);
	for (cpu = 0; cpu < n; cpu++) {
		if (!(mask->mask[cpu / 32] & (1u << cpu % 32)))
			continue;
		first = cpu;
		while (cpu + 1 < n && (mask->mask[(cpu + 1) / 32] & (1u << (cpu + 1) % 32)))
			cpu++;
		if (cpu == first)
			printf("%s%u", comma, first);
		else
			printf("%s%u-%u", comma, first, cpu);
		comma = ",";
	}
	printf("%s\n", *comma ? "" : "none");
}

void perfctr_cpus_info_print(const struct perfctr_cpus_info *info)
{
	print_mask("cpus\t\t\t", info->cpus);
	print_mask("cpus_forbidden\t\t", info->cpus_forbidden);
}

static void print_map(unsigned int i, unsigned int map)
{
	if (map == PERFCTR_MAP_ANY)
		printf("pmc_map[%u]\t\tany\n", i);
	else if (map >= 0x40000000u)	/* x86: a fixed counter */
		printf("pmc_map[%u]\t\t0x%08x\n", i, map);
	else
		printf("pmc_map[%u]\t\t%u\n", i, map);
}

/* Prints an event of perf's, whose type is in pmc_map[]. */
static void print_perf_event(const struct perfctr_cpu_control *control, unsigned int i)
{
	printf("pmc_map[%u]\t\tperf type %u\n", i, control->pmc_map[i]);
	printf("evntsel[%u]\t\t0x%08x\n", i, control->evntsel[i]);
#if defined(__x86_64__) || defined(__i386__)
	if (control->evntsel_high[i])
		printf("evntsel_high[%u]\t\t0x%08x\n", i, control->evntsel_high[i]);
#elif defined(__aarch64__)
	if (control->arm64.config[i])
		printf("arm64.config[%u]\t\t0x%llx\n", i, control->arm64.config[i]);
#elif defined(__riscv)
	if (control->riscv.event_data[i])
		printf("riscv.event_data[%u]\t0x%llx\n", i, control->riscv.event_data[i]);
#endif
	printf("perf mode[%u]\t\t%s%s\n", i, control->perf_user >> i & 1 ? "u" : "",
	       control->perf_kernel >> i & 1 ? "k" : "");
}

#if defined(__x86_64__) || defined(__i386__)

/*
 * Prints the member of the union for counter @i. The control does not say which member of the union
 * is in use, so @is_p4 does.
 */
static void print_high(const struct perfctr_cpu_control *control, unsigned int i, int is_p4)
{
	if (control->evntsel_high[i])
		printf(is_p4 ? "escr[%u]\t\t\t0x%08x\n" : "evntsel_high[%u]\t\t0x%08x\n", i,
		       control->evntsel_high[i]);
}

static void print_rest(const struct perfctr_cpu_control *control, int is_p4)
{
	static const char *const of_p4[] = { "pebs_enable\t", "pebs_matrix_vert" };
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (control->nhlm.offcore_rsp[i] && is_p4)
			printf("%s\t0x%08x\n", of_p4[i], control->nhlm.offcore_rsp[i]);
		else if (control->nhlm.offcore_rsp[i])
			printf("nhlm.offcore_rsp[%u]\t0x%08x\n", i,
			       control->nhlm.offcore_rsp[i]);
}

static int is_on_p4(void)
{
	struct perfctr_info info;

	return !perfctr_get_info(&info) && perfctr_is_p4(info.cpu_type);
}

#endif

void perfctr_cpu_control_print(const struct perfctr_cpu_control *control)
{
	unsigned int i, n = control->nractrs + control->nrictrs;
#if defined(__x86_64__) || defined(__i386__)
	int is_p4 = is_on_p4();
#endif

	if (n > PERFCTR_NRCTRS)
		n = PERFCTR_NRCTRS;
	printf("tsc_on\t\t\t%u\n", control->tsc_on);
	printf("nractrs\t\t\t%u\n", control->nractrs);
	if (control->nrictrs)
		printf("nrictrs\t\t\t%u\n", control->nrictrs);
	for (i = 0; i < n; i++) {
		if (perfctr_has_perf_event(control, i)) {
			print_perf_event(control, i);
			continue;
		}
		print_map(i, control->pmc_map[i]);
		printf("evntsel[%u]\t\t0x%08x\n", i, control->evntsel[i]);
#if defined(__x86_64__) || defined(__i386__)
		print_high(control, i, is_p4);
#elif defined(__aarch64__)
		printf("arm64.mode[%u]\t\t%s%s\n", i,
		       control->arm64.mode[i] != PERFCTR_CTR_KERNEL ? "u" : "",
		       control->arm64.mode[i] & PERFCTR_CTR_KERNEL ? "k" : "");
		if (control->arm64.config[i])
			printf("arm64.config[%u]\t\t0x%llx\n", i, control->arm64.config[i]);
#elif defined(__riscv)
		printf("riscv.mode[%u]\t\t%s%s\n", i,
		       control->riscv.mode[i] != PERFCTR_CTR_KERNEL ? "u" : "",
		       control->riscv.mode[i] & PERFCTR_CTR_KERNEL ? "k" : "");
		if (control->riscv.event_data[i])
			printf("riscv.event_data[%u]\t0x%llx\n", i,
			       control->riscv.event_data[i]);
#endif
		if (i >= control->nractrs)
			printf("ireset[%u]\t\t%d\n", i, control->ireset[i]);
	}
#if defined(__x86_64__) || defined(__i386__)
	print_rest(control, is_p4);
#elif defined(__powerpc__)
	if (n) {
		printf("ppc.mmcr0\t\t0x%08x\n", control->ppc.mmcr0);
		printf("ppc.mmcr2\t\t0x%08x\n", control->ppc.mmcr2);
	}
#endif
}
