// SPDX-License-Identifier: GPL-2.0
/*
 * Copies controls from callers and to callers. A caller's layout may differ from the module's.
 */

#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/usercopy.h"
#include "arch/cpu.h"
#include "perf/shared.h"
#include "calls/layout.h"

#define CTR_SIZE		PERFCTR_CTR_SIZE
#define CONTROL_HEAD		PERFCTR_CONTROL_HEAD

/*
 * This number is not 0 even if the processor has no counters, so that controls with counters pass
 * here. The driver then refuses these controls with a reason.
 */
u32 perfctr_most_counters;

struct perfctr_control *perfctr_control_alloc(u32 nr)
{
	struct perfctr_control *control = kmalloc(CONTROL_HEAD + nr * CTR_SIZE, GFP_KERNEL);

	if (control)
		memset(control, 0, CONTROL_HEAD);
	return control;
}

static u32 layout_nr(const struct perfctr_layout *layout)
{
	return layout->nractrs + layout->nrictrs;
}

/*
 * Returns 0 if the counters are within the structure, and are not more than a control can have.
 * Then i-mode counters are also among the first 32 counters. Otherwise returns -EINVAL.
 */
int perfctr_layout_check(const struct perfctr_layout *layout)
{
	if (layout->ctr_offset < PERFCTR_CONTROL_SIZE_VER0 || layout->ctr_offset % 8 ||
	    layout->ctr_size < PERFCTR_CTR_CONTROL_SIZE_VER0 || layout->ctr_size % 8 ||
	    layout->nractrs > perfctr_most_counters ||
	    layout->nrictrs > perfctr_most_counters - layout->nractrs ||
	    layout->size < layout->ctr_offset + (u64)layout_nr(layout) * layout->ctr_size)
		return -EINVAL;
	return 0;
}

/* Reads the layout once. A later copy might differ, because user memory may change. */
int perfctr_layout_get(const struct perfctr_control __user *arg,
		       struct perfctr_layout *layout)
{
	int err = perfctr_get_size(arg, PERFCTR_CONTROL_SIZE_VER0, &layout->size);

	if (err)
		return err;
	return get_user(layout->ctr_offset, &arg->ctr_offset) ||
	       get_user(layout->ctr_size, &arg->ctr_size) ||
	       get_user(layout->nractrs, &arg->nractrs) ||
	       get_user(layout->nrictrs, &arg->nrictrs) ? -EFAULT : 0;
}

void perfctr_control_free(struct perfctr_control *control, struct perfctr_few_counters *few)
{
	if ((void *)control != few)
		kfree(control);
}

struct perfctr_control *perfctr_control_get(const struct perfctr_control __user *arg,
					    struct perfctr_few_counters *few)
{
	struct perfctr_control *control = (void *)few;
	const void __user *from = arg;
	struct perfctr_layout layout;
	u32 i, nr;
	int err;

	err = perfctr_layout_get(arg, &layout);
	if (!err)
		err = perfctr_layout_check(&layout);
	if (err)
		return ERR_PTR(err);
	nr = layout_nr(&layout);
	if (nr > PERFCTR_FEW_COUNTERS)
		control = perfctr_control_alloc(nr);
	if (!control)
		return ERR_PTR(-ENOMEM);
	if (layout.ctr_offset == CONTROL_HEAD && layout.ctr_size == CTR_SIZE) {
		/* For this layout, which almost all callers have, one copy is enough. */
		err = copy_from_user(control, arg, CONTROL_HEAD + nr * CTR_SIZE) ? -EFAULT : 0;
		nr = 0;
	} else {
		err = copy_struct_from_user(control, CONTROL_HEAD, from, layout.ctr_offset);
		from += layout.ctr_offset;
	}
	for (i = 0; !err && i < nr; i++, from += layout.ctr_size)
		err = copy_struct_from_user(&control->ctr[i], CTR_SIZE, from, layout.ctr_size);
	if (err) {
		perfctr_control_free(control, few);
		return ERR_PTR(err);
	}
	control->nractrs = layout.nractrs;
	control->nrictrs = layout.nrictrs;
	return control;
}

int perfctr_control_put(void __user *arg, const struct perfctr_layout *layout,
			const struct perfctr_control *control)
{
	u32 i, nr = perfctr_control_nr(control), used = layout->ctr_offset + nr * layout->ctr_size;
	void __user *to = arg + layout->ctr_offset;
	int err = perfctr_put_struct(arg, layout->ctr_offset, control, CONTROL_HEAD);

	for (i = 0; !err && i < nr; i++, to += layout->ctr_size)
		err = perfctr_put_struct(to, layout->ctr_size, &control->ctr[i], CTR_SIZE);
	if (!err && clear_user(to, layout->size - used))
		err = -EFAULT;
	return err;
}

int perfctr_put_refusal(struct perfctr_control __user *arg,
			const struct perfctr_refusal *why)
{
	if (!user_write_access_begin(arg, CONTROL_HEAD))
		return -EFAULT;
	unsafe_put_user(why->owner, &arg->owner, fault);
	unsafe_put_user(why->index, &arg->refused, fault);
	unsafe_put_user(why->reason, &arg->reason, fault);
	unsafe_put_user(why->possible, &arg->possible, fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

void __init perfctr_control_init(void)
{
	perfctr_most_counters = perfctr_nrctrs() ?: PERFCTR_MAX_HW;
}
