// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into perfex: it is told that the module has no driver for this processor, as on
 * AMD's. Everything else is the real module's answer.
 */
#define _GNU_SOURCE
#include <linux/perfctr.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pretend(struct perfctr_kernel_info *info)
{
	info->cpu_type = PERFCTR_X86_GENERIC;
	info->cpu_features &= PERFCTR_FEATURE_RDTSC | PERFCTR_FEATURE_SHARED;
	info->no_counters = PERFCTR_NO_COUNTERS_PROCESSOR;
	info->counters = 0;
	info->events[0] = 0;
	info->events[1] = 0;
	info->nrctrs = 16;
}

int ioctl(int fd, unsigned long request, ...)
{
	void *arg;
	va_list args;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = (int)syscall(SYS_ioctl, fd, request, arg);
	if (!ret && request == PERFCTR_IOC_INFO)
		pretend(arg);
	return ret;
}
