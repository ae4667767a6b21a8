/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies controls from callers and to callers, for control.c and session.c.
 */
#ifndef PERFCTR_LAYOUT_H
#define PERFCTR_LAYOUT_H

#include <linux/cpumask.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/perfctr.h>

struct perfctr_refusal;

#define PERFCTR_CTR_SIZE	sizeof(struct perfctr_ctr_control)
#define PERFCTR_CONTROL_HEAD	offsetof(struct perfctr_control, ctr)

/* Up to this number of counters an allocation would take longer than the rest of the call. */
#define PERFCTR_FEW_COUNTERS	4

struct perfctr_few_counters {
	u64 words[(PERFCTR_CONTROL_HEAD + PERFCTR_FEW_COUNTERS * PERFCTR_CTR_SIZE) / sizeof(u64)];
};

/* The layout of a caller's control: where the counters are, and how many there are of each mode. */
struct perfctr_layout {
	u32 size;
	u32 ctr_offset;
	u32 ctr_size;
	u32 nractrs;
	u32 nrictrs;
};

/* The largest number of counters in one control; constant after init */
extern u32 perfctr_most_counters;

void perfctr_control_init(void);

static inline u32 perfctr_control_nr(const struct perfctr_control *control)
{
	return control->nractrs + control->nrictrs;
}

/* Returns true if @cpu is a possible CPU, or, without PERFCTR_CONTROL_CPU, if @cpu is 0. */
static inline bool perfctr_control_cpu_valid(struct perfctr_control *control)
{
	if (!(control->flags & PERFCTR_CONTROL_CPU))
		return !control->cpu;
	if (control->cpu >= nr_cpu_ids)
		return false;
	control->cpu = array_index_nospec(control->cpu, nr_cpu_ids);
	return cpu_possible(control->cpu);
}

/*
 * Returns a control with room for @nr counters, or NULL if there is no memory. The control is
 * zeroed, but its counters are not. The caller frees it by kfree().
 */
struct perfctr_control *perfctr_control_alloc(u32 nr);
/* Read and check the layout of the caller's control. Return 0, -EFAULT, -EINVAL or -E2BIG. */
int perfctr_layout_get(const struct perfctr_control __user *arg,
		       struct perfctr_layout *layout);
int perfctr_layout_check(const struct perfctr_layout *layout);
/*
 * perfctr_control_get() copies the caller's control to the module's own layout, and checks only the
 * layout. The copy is in @few, or is allocated if it has more counters than @few has room for.
 * perfctr_control_free() frees the copy in both cases. perfctr_control_put() copies a control to
 * the caller's layout, which was checked.
 */
struct perfctr_control *perfctr_control_get(const struct perfctr_control __user *arg,
					    struct perfctr_few_counters *few);
void perfctr_control_free(struct perfctr_control *control, struct perfctr_few_counters *few);
int perfctr_control_put(void __user *arg, const struct perfctr_layout *layout,
			const struct perfctr_control *control);
int perfctr_put_refusal(struct perfctr_control __user *arg,
			const struct perfctr_refusal *why);

#endif /* PERFCTR_LAYOUT_H */
