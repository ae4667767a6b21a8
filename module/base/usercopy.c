// SPDX-License-Identifier: GPL-2.0
/* Copies structures from and to callers, whose version of a structure may be larger or smaller. */

#include <linux/uaccess.h>
#include <linux/perfctr.h>

#include "base/usercopy.h"

int perfctr_get_size(const void __user *arg, size_t least, u32 *size)
{
	if (get_user(*size, (const u32 __user *)arg))
		return -EFAULT;
	if (*size < least)
		return -EINVAL;
	return *size > PERFCTR_MAX_SIZE ? -E2BIG : 0;
}

int perfctr_get_struct(void *to, size_t known, const void __user *arg, size_t least)
{
	u32 size;
	int err = perfctr_get_size(arg, least, &size);

	return err ? err : copy_struct_from_user(to, known, arg, size);
}

/* We copy at most this many bytes word by word, because copy_to_user() may copy byte by byte. */
#define FEW_WORDS	256

static int put_words(u64 __user *to, const u64 *from, size_t length)
{
	const u64 *end = from + length / sizeof(*from);

	if (!user_write_access_begin(to, length))
		return -EFAULT;
	while (from != end) {
		unsafe_put_user(*from, to, fault);
		from++;		/* not in the macro, which may evaluate its argument twice */
		to++;
	}
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known)
{
	size_t length = min_t(size_t, size, known);

	if (length <= FEW_WORDS &&
	    IS_ALIGNED((unsigned long)arg | (unsigned long)from | length, sizeof(u64))) {
		if (put_words(arg, from, length))
			return -EFAULT;
	} else if (copy_to_user(arg, from, length)) {
		return -EFAULT;
	}
	if (size > known && clear_user(arg + known, size - known))
		return -EFAULT;
	return 0;
}
