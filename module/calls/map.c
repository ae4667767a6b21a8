// SPDX-License-Identifier: GPL-2.0
/*
 * The map. The owner's own maps show its page, in the mm where the owner made them. Any other map
 * (of a sibling, or a fork's copy) shows a page that says "ask the kernel".
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "arch/user.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "thread/ring.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/map.h"

/* This page is mapped in place of the owner's own page, and says "ask the kernel". */
static struct perfctr_page *foreign_page;

static vm_fault_t foreign_fault(struct vm_fault *vmf)
{
	vmf->page = virt_to_page(foreign_page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct foreign_vm_ops = {
	.fault = foreign_fault,
};

static vm_fault_t owner_fault(struct vm_fault *vmf)
{
	struct vperfctr *perfctr = vmf->vma->vm_private_data;
	struct perfctr_page *page = foreign_page;

	/* After an exec the owner may have a new page, which the old mm must not see. */
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm == vmf->vma->vm_mm)
		page = perfctr->page;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	raw_spin_unlock(&perfctr->map_lock);
	return 0;
}

/* Sets @user. In the owner's context that has effect at once, else at the owner's next switch. */
static void set_user(struct vperfctr *perfctr, bool user)
{
	bool own = perfctr == vperfctr_current();
	unsigned long flags;

	local_irq_save(flags);
	if (own)
		vperfctr_suspend(perfctr);
	WRITE_ONCE(perfctr->user, user);
	if (own) {
		vperfctr_resume(perfctr);
	} else {
		smp_mb();	/* pairs with let_take_over() */
		WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	}
	local_irq_restore(flags);
}

/* Called when fork copies a map, to another mm, and when mremap moves a map within its own mm. */
static void owner_vm_open(struct vm_area_struct *vma);

static void owner_vm_close(struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = vma->vm_private_data;
	bool last;

	raw_spin_lock(&perfctr->map_lock);
	last = perfctr->map_mm == vma->vm_mm && !--perfctr->owner_maps;
	if (last) {
		perfctr->map_mm = NULL;
		set_user(perfctr, false);
	}
	raw_spin_unlock(&perfctr->map_lock);
	perfctr_forbid(vma->vm_mm);
}

static const struct vm_operations_struct owner_vm_ops = {
	.open = owner_vm_open,
	.close = owner_vm_close,
	.fault = owner_fault,
};

static void owner_vm_open(struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = vma->vm_private_data;
	bool own;

	raw_spin_lock(&perfctr->map_lock);
	own = perfctr->map_mm == vma->vm_mm;
	if (own)
		perfctr->owner_maps++;
	else
		vma->vm_ops = &foreign_vm_ops;
	raw_spin_unlock(&perfctr->map_lock);
	/* The mm has a map already, so this allocates nothing and cannot fail. */
	if (own)
		WARN_ON(perfctr_cpu_mm_get(vma->vm_mm));
}

/*
 * After an exec the thread has another mm, but other processes may still have the old one and its
 * maps. These processes must not see what the new program does, so the thread gets another page.
 */
void vperfctr_exec_unmap(struct vperfctr *perfctr)
{
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm && perfctr->map_mm != current->mm) {
		perfctr->map_mm = NULL;
		perfctr->owner_maps = 0;
		perfctr->stale = true;
		set_user(perfctr, false);
	}
	raw_spin_unlock(&perfctr->map_lock);
}

/* Changes @lent, and what the owner may read, at once. Only the owner calls this. */
static void set_lent(struct vperfctr *perfctr, bool lent)
{
	unsigned long flags;

	local_irq_save(flags);
	vperfctr_suspend(perfctr);
	vperfctr_revoke(perfctr);
	perfctr->lent = lent;
	vperfctr_resume(perfctr);
	local_irq_restore(flags);
}

/*
 * Task work calls this. Usually the owner is on its way to user mode, the child has exec'ed or
 * died, and the kernel has cleared TIF_NOTIFY_RESUME before the work runs. But if a tracer follows
 * the child, task work also runs, with the flag set, before the owner waits for the child. A fatal
 * signal, too, ends the wait while the child lives on.
 */
bool vperfctr_take_back(struct vperfctr *perfctr)
{
	if (test_thread_flag(TIF_NOTIFY_RESUME) || fatal_signal_pending(current))
		return false;
	set_lent(perfctr, false);
	return true;
}

/*
 * By vfork() the owner has made a child that shares the owner's memory and thread pointer. So the
 * page looks to the child like the child's own page, and the child may run on another CPU before
 * the owner has left this CPU. When the owner returns to user mode, the child has exec'ed or died.
 * After a bare clone() with CLONE_VM the child may still run then, but perfctr(4) says that each
 * thread needs a thread pointer of its own.
 */
void vperfctr_lend(struct vperfctr *perfctr)
{
	if (!READ_ONCE(perfctr->user) || perfctr->lent)
		return;
	/* Do this first, so that resume() finds todo set, and does not set at_once. */
	vperfctr_return_soon(perfctr, current, PERFCTR_TODO_LENT);
	set_lent(perfctr, true);
}

static int vperfctr_mmap_ring(struct vperfctr *perfctr, struct vm_area_struct *vma)
{
	struct perfctr_ring_buffer *ring = READ_ONCE(perfctr->ring);

	return ring ? perfctr_ring_mmap(ring, vma) : -EINVAL;
}

int vperfctr_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = perfctr_file_state(file);
	struct perfctr_page *page;
	unsigned long flags;
	int err;

	if (!perfctr)
		return -ENODEV;
	if (vma->vm_pgoff >= PERFCTR_RING_OFFSET >> PAGE_SHIFT)
		return vperfctr_mmap_ring(perfctr, vma);
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND, VM_MAYWRITE);

	if (perfctr != vperfctr_current()) {
		vma->vm_ops = &foreign_vm_ops;
		return 0;
	}
	if (perfctr_config_counts_kernel(perfctr->config) &&
	    !perfctr_may_count_kernel(vperfctr_is_shared(perfctr)))
		return -EACCES;
	if (!perfctr->page || perfctr->stale) {
		page = vperfctr_page_alloc();
		if (!page)
			return -ENOMEM;
		raw_spin_lock(&perfctr->map_lock);
		swap(perfctr->page, page);
		perfctr->stale = false;
		raw_spin_unlock(&perfctr->map_lock);
		/* Maps of the old page have references to it. */
		free_page((unsigned long)page);
	}
	err = perfctr_cpu_mm_get(vma->vm_mm);
	if (err)
		return err;
	vma->vm_private_data = perfctr;
	vma->vm_ops = &owner_vm_ops;
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm != vma->vm_mm)
		perfctr->owner_maps = 0;
	perfctr->map_mm = vma->vm_mm;
	perfctr->owner_maps++;
	/* The page changes while the state is suspended, so no reader uses it meanwhile. */
	local_irq_save(flags);
	vperfctr_suspend(perfctr);
	vperfctr_page_update(perfctr);
	local_irq_restore(flags);
	/* In a slot, a thread pointer of 0 means that no thread may read the register. */
	set_user(perfctr, perfctr_cpu_thread_pointer(current) != 0);
	raw_spin_unlock(&perfctr->map_lock);
	/* The permission is given later, because the mmap_lock is held here. */
	if (perfctr_cpu_mm_waits(vma->vm_mm))
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_PERMIT);
	return 0;
}

int perfctr_map_init(void)
{
	foreign_page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL);
	if (!foreign_page)
		return -ENOMEM;
	foreign_page->size = sizeof(*foreign_page);
	foreign_page->seq = -1;
	return 0;
}

void perfctr_map_exit(void)
{
	free_page((unsigned long)foreign_page);
}
