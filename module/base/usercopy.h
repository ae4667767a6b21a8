/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures of the ABI grow. Each begins with its size as the caller knows it. A member beyond
 * that size counts as zero.
 */
#ifndef PERFCTR_USERCOPY_H
#define PERFCTR_USERCOPY_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Reads the caller's size. EFAULT; EINVAL: below @least; E2BIG: above PERFCTR_MAX_SIZE */
int perfctr_get_size(const void __user *arg, size_t least, u32 *size);
/* Copies the caller's structure. The same errors; E2BIG also: it sets members beyond @known. */
int perfctr_get_struct(void *to, size_t known, const void __user *arg, size_t least);
/* Fills @size bytes of the caller's structure: @known from @from, then zeros. EFAULT */
int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known);

/* Are all words zero? For reserved members: memchr_inv() takes longer than all other checks. */
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
