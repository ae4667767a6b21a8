/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver looks at of an mm */
#ifndef SHIM_LINUX_MM_TYPES_H
#define SHIM_LINUX_MM_TYPES_H

#include "shim/kernel.h"

struct mm_struct {
	struct {
		u64 ctx_id;
		atomic_t perf_rdpmc_allowed;
	} context;
	int map_count;
	atomic_t mm_users;
	struct {
		int readers;
		int writers;
	} mmap_lock;
};

#endif /* SHIM_LINUX_MM_TYPES_H */
