// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that need only the device: information on the processor and the driver. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

/*
 * Older types of processors, which a program can ask for by PERFCTR_CPU_TYPE
 */

#if defined(__x86_64__) || defined(__i386__)

/*
 * The types of three families of processors. Within a family, later types have all registers of
 * older types. The type of the Core is not in this table, because in 2.6 the Core has one enable
 * bit for both counters, like the P6.
 */
static const struct {
	const char *name;
	unsigned int cpu_type;
	int family;	/* event selects mean the same in all types of a family */
	unsigned long long counters;	/* as in perfctr_info.counters */
} types[] = {
	{ "P6", PERFCTR_X86_INTEL_P6, 0, 0x3 },
	{ "PII", PERFCTR_X86_INTEL_PII, 0, 0x3 },
	{ "PIII", PERFCTR_X86_INTEL_PIII, 0, 0x3 },
	{ "PENTM", PERFCTR_X86_INTEL_PENTM, 0, 0x3 },
	{ "CORE2", PERFCTR_X86_INTEL_CORE2, 1, 0x7000003 },
	{ "ATOM", PERFCTR_X86_INTEL_ATOM, 1, 0x7000003 },
	{ "NHLM", PERFCTR_X86_INTEL_NHLM, 1, 0x700000f },
	{ "WSTMR", PERFCTR_X86_INTEL_WSTMR, 1, 0x700000f },
	{ "ARCH", PERFCTR_X86_INTEL_ARCH, 1, 0 },
	{ "K7", PERFCTR_X86_AMD_K7, 2, 0xf },
	{ "K8", PERFCTR_X86_AMD_K8, 2, 0xf },
	{ "K8C", PERFCTR_X86_AMD_K8C, 2, 0xf },
	{ "FAM10H", PERFCTR_X86_AMD_FAM10H, 2, 0xf },
	{ "FAM15H", PERFCTR_X86_AMD_FAM15H, 2, 0x3f },
	{ "ZEN", PERFCTR_X86_AMD_ZEN, 2, 0x3f },
	{ "ZEN2", PERFCTR_X86_AMD_ZEN2, 2, 0x3f },
	{ "ZEN4", PERFCTR_X86_AMD_ZEN4, 2, 0 },
};

unsigned int perfctr_older_type(const char *name, unsigned int cpu_type, unsigned long long counters)
{
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(types) && types[k].cpu_type != cpu_type; k++)
		;
	for (i = 0; k < ARRAY_SIZE(types) && i < k; i++)
		if (!strcmp(types[i].name, name) &&
		    types[i].family == types[k].family &&
		    !(types[i].counters & ~counters))
			return types[i].cpu_type;
	return cpu_type;
}

#else

unsigned int perfctr_older_type(const char *name, unsigned int cpu_type, unsigned long long counters)
{
	(void)name;
	(void)counters;
	return cpu_type;
}

#endif

_Static_assert(sizeof(((struct perfctr_info *)0)->driver_version) ==
	       sizeof(((struct perfctr_kernel_info *)0)->driver_version), "copied as a whole");

int perfctr_info(int fd, struct perfctr_info *info)
{
	struct perfctr_kernel_info kernel = { .size = sizeof(kernel) };
	const char *older = secure_getenv("PERFCTR_CPU_TYPE");

	memset(info, 0, sizeof(*info));
	if (ioctl(fd, PERFCTR_IOC_INFO, &kernel) < 0)
		return -1;
	info->abi_version = kernel.abi_version;
	memcpy(info->driver_version, kernel.driver_version, sizeof(info->driver_version));
	info->own_cpu_type = kernel.cpu_type;
	info->cpu_type = kernel.cpu_type;
	if (older)
		info->cpu_type = perfctr_older_type(older, kernel.cpu_type, kernel.counters);
	info->cpu_features = kernel.cpu_features;
	info->cpu_khz = kernel.cpu_khz;
	info->tsc_to_cpu_mult = kernel.tsc_to_cpu_mult;
	info->nrctrs = kernel.nrctrs;
	info->no_counters = kernel.no_counters;
	info->user_read = kernel.user_read;
	info->width = kernel.width;
	info->source = kernel.source;
	info->topdown = kernel.topdown;
	info->tsc_hz = kernel.tsc_hz;
	info->counters = kernel.counters;
	memcpy(info->events, kernel.events, sizeof(info->events));
	return 0;
}

#if defined(__x86_64__) || defined(__i386__)

/*
 * Asks the kernel each time, because the module may have been replaced since the last call. If this
 * call fails, so does the caller's next call.
 */
unsigned int perfctr_cpu_type(int fd)
{
	struct perfctr_info info;

	return perfctr_info(fd, &info) < 0 ? PERFCTR_X86_GENERIC : info.own_cpu_type;
}

#else

/* On other architectures all types have the same controls, so the kernel is not asked. */
unsigned int perfctr_cpu_type(int fd)
{
	(void)fd;
	return 0;
}

#endif

int perfctr_get_info(struct perfctr_info *info)
{
	int fd, ret, err;

	fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = perfctr_info(fd, info);
	err = errno;
	close(fd);
	errno = err;
	return ret;
}

/* The versions must have the same top byte. While it is the same, structures only grow. */
int perfctr_abi_check_fd(int fd)
{
	struct perfctr_info info;

	if (perfctr_info(fd, &info) < 0)
		return -1;
	if ((info.abi_version ^ PERFCTR_ABI_VERSION) >> 24) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

static int cpus(int fd, unsigned int which, unsigned int *nrwords, unsigned int *mask)
{
	struct perfctr_cpus c = {
		.size = sizeof(c),
		.which = which,
		.nrwords = *nrwords,
		.mask = (__u64)(unsigned long)mask,
	};
	int ret = ioctl(fd, PERFCTR_IOC_CPUS, &c);

	*nrwords = c.nrwords;
	return ret;
}

struct perfctr_cpus_info *perfctr_cpus_info(int fd)
{
	struct perfctr_cpus_info *info;
	unsigned int nrwords, needed = 0;
	size_t masksize;
	void *room;

	/* With no room for the mask, the call tells how many words the mask needs. */
	if (cpus(fd, PERFCTR_CPUS_ALL, &needed, NULL) < 0 && errno != EOVERFLOW)
		return NULL;
	masksize = offsetof(struct perfctr_cpu_mask, mask) +
		needed * sizeof(unsigned int);
	if (masksize < sizeof(struct perfctr_cpu_mask))
		masksize = sizeof(struct perfctr_cpu_mask);
	info = calloc(1, sizeof(*info) + 2 * masksize);
	if (!info)
		return NULL;
	room = info + 1;
	info->cpus = room;
	room = (char *)room + masksize;
	info->cpus_forbidden = room;

	nrwords = needed;
	if (cpus(fd, PERFCTR_CPUS_ALL, &nrwords, info->cpus->mask) < 0)
		goto err_free;
	info->cpus->nrwords = nrwords;
	nrwords = needed;
	if (cpus(fd, PERFCTR_CPUS_FORBIDDEN, &nrwords, info->cpus_forbidden->mask) < 0)
		goto err_free;
	info->cpus_forbidden->nrwords = nrwords;
	return info;

err_free:
	free(info);
	return NULL;
}

unsigned int perfctr_info_nrctrs(const struct perfctr_info *info)
{
	return info->nrctrs;
}

const char *perfctr_info_cpu_name(const struct perfctr_info *info)
{
#if defined(__powerpc__)
	static const char *const names[] = {
		[PERFCTR_PPC_GENERIC] = "Generic PowerPC with TB",
		[PERFCTR_PPC_604] = "PowerPC 604",
		[PERFCTR_PPC_604e] = "PowerPC 604e",
		[PERFCTR_PPC_750] = "PowerPC 750",
		[PERFCTR_PPC_7400] = "PowerPC 7400",
		[PERFCTR_PPC_7450] = "PowerPC 7450",
	};
#else
	static const char *const names[] = {
		[PERFCTR_X86_GENERIC] = "Generic x86 with TSC",
		[PERFCTR_X86_INTEL_P5] = "Intel Pentium",
		[PERFCTR_X86_INTEL_P5MMX] = "Intel Pentium MMX",
		[PERFCTR_X86_INTEL_P6] = "Intel Pentium Pro",
		[PERFCTR_X86_INTEL_PII] = "Intel Pentium II",
		[PERFCTR_X86_INTEL_PIII] = "Intel Pentium III",
		[PERFCTR_X86_CYRIX_MII] = "Cyrix 6x86MX/MII/III",
		[PERFCTR_X86_WINCHIP_C6] = "WinChip C6",
		[PERFCTR_X86_WINCHIP_2] = "WinChip 2/3",
		[PERFCTR_X86_AMD_K7] = "AMD K7",
		[PERFCTR_X86_VIA_C3] = "VIA C3",
		[PERFCTR_X86_INTEL_P4] = "Intel Pentium 4",
		[PERFCTR_X86_INTEL_P4M2] = "Intel Pentium 4 Model 2",
		[PERFCTR_X86_AMD_K8] = "AMD K8",
		[PERFCTR_X86_INTEL_PENTM] = "Intel Pentium M",
		[PERFCTR_X86_AMD_K8C] = "AMD K8 Revision C",
		[PERFCTR_X86_INTEL_P4M3] = "Intel Pentium 4 Model 3",
		[PERFCTR_X86_INTEL_CORE] = "Intel Core",
		[PERFCTR_X86_INTEL_CORE2] = "Intel Core 2",
		[PERFCTR_X86_AMD_FAM10H] = "AMD Family 10h",
		[PERFCTR_X86_INTEL_ATOM] = "Intel Atom",
		[PERFCTR_X86_INTEL_NHLM] = "Intel Nehalem",
		[PERFCTR_X86_INTEL_WSTMR] = "Intel Westmere",
		[PERFCTR_X86_INTEL_ARCH] = "Intel, by architectural performance monitoring",
		[PERFCTR_X86_AMD_FAM15H] = "AMD Family 15h or 16h",
		[PERFCTR_X86_AMD_ZEN] = "AMD Zen",
		[PERFCTR_X86_AMD_ZEN2] = "AMD Zen 2 or 3",
		[PERFCTR_X86_AMD_ZEN4] = "AMD Zen 4 or later",
	};
#endif

	if (info->cpu_type < ARRAY_SIZE(names))
		return names[info->cpu_type];
	switch (info->cpu_type) {
	case PERFCTR_RISCV_GENERIC:
		return "RISC-V without SBI PMU";
	case PERFCTR_RISCV_SBI:
		return "RISC-V with SBI PMU";
	case PERFCTR_ARM64_GENERIC:
		return "Generic ARM with 64 bits";
	default:
		return "unknown";
	}
}

const char *perfctr_owner_name(unsigned int owner)
{
	switch (owner) {
	case PERFCTR_OWNER_NONE:
		return "nobody";
	case PERFCTR_OWNER_PERF:
		return "perf_events";
	case PERFCTR_OWNER_WATCHDOG:
		return "the NMI watchdog";
	case PERFCTR_OWNER_FIRMWARE:
		return "the firmware";
	case PERFCTR_OWNER_PERFCTR:
		return "other users of perfctr";
	case PERFCTR_OWNER_HOLDER:
		return "another open file that programmed the same thread";
	default:
		return "unknown";
	}
}

const char *perfctr_reason_name(unsigned int reason)
{
	switch (reason) {
	case PERFCTR_REASON_NONE:
		return "none";
	case PERFCTR_REASON_KERNEL:
		return "it counts more than user mode, which needs a privilege";
	case PERFCTR_REASON_OPEN:
		return "others could read these counters, as perf_events is open to all";
	case PERFCTR_REASON_HALF:
		return "without privilege there is half of perf_events' counters";
	case PERFCTR_REASON_ONLY:
		return "it is the only counter of its kind, which takes a privilege";
	case PERFCTR_REASON_ROOM:
		return "too many different events are counted through perf_events";
	case PERFCTR_REASON_SOURCE:
		return "the other source of counters could do it";
	case PERFCTR_REASON_COUNTER:
		return "no counter that can count it is left";
	case PERFCTR_REASON_MODEL:
		return "of this model perfctr knows the architectural events only";
	case PERFCTR_REASON_ERRATUM:
		return "an erratum of this processor makes the event count wrong, or its interrupts unsafe";
	case PERFCTR_REASON_MEDIATED:
		return "a virtual machine has the processor's counters for itself";
	case PERFCTR_REASON_CPUS:
		return "the counters count for CPUs, by the module's own driver";
	case PERFCTR_REASON_THREADS:
		return "the counters count for threads, by the module's own driver";
	case PERFCTR_REASON_SLOTS:
		return "a metric of TopDown needs SLOTS in the same control and modes, and both a-mode";
	case PERFCTR_REASON_TOPDOWN:
		return "there is no such event of TopDown on this processor";
	case PERFCTR_REASON_TRIAL:
		return "the processor says, or a trial has shown, that this event is not counted here";
	default:
		return "unknown";
	}
}

const char *perfctr_source_name(unsigned int source)
{
	switch (source) {
	case PERFCTR_SOURCE_NATIVE:
		return "native";
	case PERFCTR_SOURCE_SHARED:
		return "shared";
	case PERFCTR_SOURCE_ANY:
		return "any";
	default:
		return "unknown";
	}
}

const char *perfctr_error_name(unsigned int error)
{
	switch (error) {
	case PERFCTR_ERROR_NONE:
		return "none";
	case PERFCTR_ERROR_LOST:
		return "it came to a CPU whose counters could not be had, or they were taken away";
	case PERFCTR_ERROR_EXEC:
		return "stopped at an exec that raised privileges, or of a program that may not be read";
	case PERFCTR_ERROR_MEMORY:
		return "there was no memory to count a thread or process that was started";
	case PERFCTR_ERROR_CHANGED:
		return "somebody else wrote to the counters' registers (firmware, a hypervisor, /dev/cpu/*/msr)";
	default:
		return "unknown";
	}
}
