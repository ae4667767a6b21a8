/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures of the ABI grow. Each structure begins with its size as the caller knows it. A member
 * beyond that size counts as zero.
 */
#ifndef PERFCTR_USERCOPY_H
#define PERFCTR_USERCOPY_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * Reads the size at the start of the caller's structure. Returns 0, -EFAULT, -EINVAL if the size is
 * below @least, or -E2BIG if it is above PERFCTR_MAX_SIZE.
 */
int perfctr_get_size(const void __user *arg, size_t least, u32 *size);
/*
 * Copies the caller's structure. Fails as perfctr_get_size() does, and with -E2BIG if the caller
 * sets members beyond @known.
 */
int perfctr_get_struct(void *to, size_t known, const void __user *arg, size_t least);
/*
 * Fills @size bytes of the caller's structure: first with at most @known bytes of @from, and then
 * with zeros. Returns 0 or -EFAULT.
 */
int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known);

/*
 * Returns true if all words are zero. We check reserved members with it, because memchr_inv() takes
 * longer than all other checks together.
 */
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
