// SPDX-License-Identifier: GPL-2.0
/*
 * A program as it was written for libperfctr 2.6: it must compile and link.
 * Whether it counts depends on the machine; here there may be no module.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libperfctr.h"
#include "perfctr_event_codes.h"

#define NAME(name, value) _Static_assert((name) == (value), #name " is 2.6's");
#include "names26.h"
#undef NAME

static struct vperfctr *self;
static volatile unsigned int overflows;

static void on_overflow(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	if (si->si_code == SI_PMC_OVF)
		overflows |= (unsigned int)si->si_pmc_ovf_mask;
	vperfctr_iresume(self);
}

static void set_up(struct vperfctr_control *control)
{
	memset(control, 0, sizeof(*control));
	control->cpu_control.tsc_on = 1;
	control->cpu_control.nractrs = 1;
	control->cpu_control.nrictrs = 0;
	control->cpu_control.pmc_map[0] = 0;
	control->cpu_control.evntsel[0] = 1;
	control->cpu_control.ireset[0] = 0;
#if defined(__i386__) || defined(__x86_64__)
	control->cpu_control.p4.escr[0] = 0;
	control->cpu_control.p4.pebs_enable = 0;
	control->cpu_control.p4.pebs_matrix_vert = 0;
	control->cpu_control.evntsel_high[0] = 0;
	control->cpu_control.nhlm.offcore_rsp[1] = 0;
	control->cpu_control.pmc_map[1] = 0x40000000;
	control->cpu_control.evntsel[1] = 0x4300c0;
#endif
	control->si_signo = 0;
	control->preserve = 1;
	control->flags = VPERFCTR_CONTROL_CLOEXEC;
}

static void global_calls(void)
{
	struct gperfctr_cpu_control control;
	struct gperfctr_cpu_state state;
	struct perfctr_cpus_info *cpus;
	struct vperfctr_control own;
	struct perfctr_info info;
	struct gperfctr *gperfctr = gperfctr_open();

	if (!gperfctr)
		return;
	set_up(&own);
	memset(&control, 0, sizeof(control));
	control.cpu = 0;
	control.cpu_control = own.cpu_control;
	gperfctr_info(gperfctr, &info);
	cpus = gperfctr_cpus_info(gperfctr);
	free(cpus);
	gperfctr_control(gperfctr, &control);
	if (gperfctr_start(gperfctr, 10000) >= 0) {
		state.cpu = 0;
		gperfctr_read(gperfctr, &state);
		printf("%llu %llu %u\n", state.sum.tsc, state.sum.pmc[0], state.cpu_control.nractrs);
		gperfctr_stop(gperfctr);
	}
	gperfctr_close(gperfctr);
}

static void raw_calls(void)
{
	struct vperfctr_control control;
	struct perfctr_sum_ctrs sum;
	int fd = _vperfctr_open(0);

	if (fd < 0)
		return;
	set_up(&control);
	perfctr_abi_check_fd(fd);
	_vperfctr_control(fd, &control);
	_vperfctr_read_control(fd, &control);
	_vperfctr_read_sum(fd, &sum);
}

static const struct perfctr_event *first_event(unsigned int cpu_type)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set(cpu_type);
	const struct perfctr_unit_mask *um;
	unsigned int i;

	if (!set || !set->nevents)
		return NULL;
	um = set->events[0].unit_mask;
	if (um && um->type == perfctr_um_type_bitmask)
		for (i = 0; i < um->nvalues; i++)
			if (um->values[i].value == um->default_value)
				puts(um->values[i].description);
	printf("%s%s: %s\n", set->event_prefix, set->events[0].name,
	       set->events[0].description);
	return &set->events[0];
}

static void with_counters(void)
{
	struct perfctr_sum_ctrs before, after;
	struct perfctr_cpus_info *cpus;
	struct vperfctr_control control;
	struct perfctr_info info;

	set_up(&control);
	if (vperfctr_info(self, &info) == 0) {
		perfctr_info_print(&info);
		if (!(info.cpu_features & PERFCTR_FEATURE_RDTSC))
			puts("no RDTSC");
		first_event(info.cpu_type);
	}
	cpus = vperfctr_cpus_info(self);
	if (cpus) {
		perfctr_cpus_info_print(cpus);
		free(cpus);
	}
	if (vperfctr_control(self, &control) < 0) {
		control.cpu_control.nractrs = 0;
		vperfctr_control(self, &control);
	}
	perfctr_cpu_control_print(&control.cpu_control);
	vperfctr_read_ctrs(self, &before);
	vperfctr_read_ctrs(self, &after);
	printf("tsc %llu, again %llu, pmc(0) %llu\n", after.tsc - before.tsc,
	       vperfctr_read_tsc(self), vperfctr_read_pmc(self, 0));
	vperfctr_read_state(self, &after, NULL);
	vperfctr_read_state(self, NULL, &control);
	if (vperfctr_is_running(self) > 0)
		vperfctr_stop(self);
	vperfctr_unlink(self);
	vperfctr_close(self);
}

int main(void)
{
	unsigned long long (*read_pmc)(const struct vperfctr *v, unsigned int i) = vperfctr_read_pmc;
	struct perfctr_info info;
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_overflow;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &sa, NULL);

	memset(&info, 0, sizeof(info));
	info.abi_version = PERFCTR_ABI_VERSION;
	strcpy(info.driver_version, "none");
	info.cpu_khz = 1;
	info.tsc_to_cpu_mult = 1;
	if (perfctr_get_info(&info) < 0)
		printf("%s\n", strerror(errno));
	else
		printf("%s: %u counters\n", perfctr_info_cpu_name(&info),
		       perfctr_info_nrctrs(&info));

	raw_calls();
	global_calls();
	self = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	if (!self)
		self = vperfctr_open();
	if (self)
		with_counters();
	return read_pmc ? EXIT_SUCCESS : EXIT_FAILURE;
}
