// SPDX-License-Identifier: GPL-2.0
/* Copying structures from and to users, who may know another size than we do. */

#include <linux/uaccess.h>

#include "perfctr.h"

int perfctr_get_size(const void __user *arg, size_t least, u32 *size)
{
	if (get_user(*size, (const u32 __user *)arg))
		return -EFAULT;
	if (*size < least)
		return -EINVAL;
	return *size > PERFCTR_MAX_SIZE ? -E2BIG : 0;
}

int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known)
{
	if (copy_to_user(arg, from, min_t(size_t, size, known)))
		return -EFAULT;
	if (size > known && clear_user(arg + known, size - known))
		return -EFAULT;
	return 0;
}
