/* SPDX-License-Identifier: GPL-2.0 */
/* The types of user space first, which ours are made of. */
#include_next <linux/types.h>
#include "../kernel.h"
