// SPDX-License-Identifier: GPL-2.0
#include "tests.h"

void test_arch(void)
{
	test_model();
	test_check();
	test_place();
	test_constraints();
	test_amd();
	test_p4();
	test_p5();
	test_probe();
	test_claim();
	test_extra();
	test_load();
	test_topdown();
	test_cpus();
	test_trial();
	test_verify();
	test_permit();
	test_user();
	test_ictrs();
	test_random();
	test_mediated();
	test_hybrid();
	test_perf();
}
