/* SPDX-License-Identifier: GPL-2.0 */
/* What user space knows of it is enough. */
#include_next <linux/perf_event.h>
#include "../kernel.h"
