/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing of an mm concerns the driver. */
#ifndef SHIM_LINUX_MM_TYPES_H
#define SHIM_LINUX_MM_TYPES_H

struct mm_struct {
	int map_count;
	struct {
		int counter;
	} mm_users;
	struct {
		int readers;
		int writers;
	} mmap_lock;
};

#endif /* SHIM_LINUX_MM_TYPES_H */
