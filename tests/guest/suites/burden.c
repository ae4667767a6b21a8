// SPDX-License-Identifier: GPL-2.0
/* What test_burden*.c share; see burden.h. */
#include "suites/burden.h"

void wake(int signo)
{
	(void)signo;
}
