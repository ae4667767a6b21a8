// SPDX-License-Identifier: GPL-2.0
/* What test_guarded*.c share; see guarded.h. */
#define _GNU_SOURCE
#include <string.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "suites/guarded.h"

struct perfctr_control usual_control(bool other)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, other ? EV_CYCLES : EV_INSTRUCTIONS);
	control_add(&control, other ? EV_INSTRUCTIONS : EV_CYCLES);
	if (other && guest.nprogrammable > 2)
		control_add(&control, EV_DTLB_LOAD_MISSES);
	return control;
}

void set_policy(const char *policy)
{
	int err = write_text(MODULE_PARAMS "user_read", policy);

	ck_assert_msg(!err, "user_read=%s: %s", policy, strerror(-err));
}

void run_policy(const TTest *test, unsigned int what)
{
	write_text(MODULE_PARAMS "user_read", "guarded");
	guest_run(test, what);
	write_text(MODULE_PARAMS "user_read", "guarded");
}
