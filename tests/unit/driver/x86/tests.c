// SPDX-License-Identifier: GPL-2.0
#include "tests.h"

void test_arch(void)
{
	test_model();
	test_check();
	test_probe();
	test_claim();
	test_extra();
	test_load();
	test_cpus();
	test_permit();
	test_user();
	test_ictrs();
	test_random();
	test_hybrid();
	test_perf();
}
