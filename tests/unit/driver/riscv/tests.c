// SPDX-License-Identifier: GPL-2.0
#include "tests.h"

void test_arch(void)
{
	test_check();
	test_claim();
	test_load();
	test_ictrs();
	test_user();
	test_cpus();
	test_perf();
	test_frames();
}
