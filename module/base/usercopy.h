/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures of the ABI grow: each begins with its size as the caller knows it. What the caller
 * does not know is zero for it.
 */
#ifndef PERFCTR_USERCOPY_H
#define PERFCTR_USERCOPY_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Reads that size: EFAULT; EINVAL below @least; E2BIG above PERFCTR_MAX_SIZE. */
int perfctr_get_size(const void __user *arg, size_t least, u32 *size);
/* Copies the caller's structure. The same errors; E2BIG also if it sets what we do not know. */
int perfctr_get_struct(void *to, size_t known, const void __user *arg, size_t least);
/* Fills @size bytes of the caller's structure. Behind what we know all becomes zero. EFAULT */
int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known);

/* Are reserved members zero? memchr_inv() would take longer than all other checks. */
static inline bool perfctr_all_zero(const __u64 *words, size_t size)
{
	__u64 any = 0;
	size_t i;

#pragma GCC unroll 16
	for (i = 0; i < size / sizeof(*words); i++)
		any |= words[i];
	return !any;
}

#endif /* PERFCTR_USERCOPY_H */
