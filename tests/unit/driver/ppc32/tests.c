// SPDX-License-Identifier: GPL-2.0
#include "tests.h"

void test_arch(void)
{
	test_model();
	test_check();
	test_claim();
	test_load();
	test_ictrs();
	test_own_way();
	test_user();
	test_perf();
	test_verify();
}
