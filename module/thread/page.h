/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions write the page that the owner maps, and show and hide its registers. See struct
 * perfctr_page.
 */
#ifndef PERFCTR_PAGE_H
#define PERFCTR_PAGE_H

#include <linux/limits.h>

#include "thread/state.h"

/* Returns a page that says that nothing is counted, or NULL if memory is short. May sleep. */
struct perfctr_page *vperfctr_page_alloc(void);
/*
 * Writes to the page what the state counts. The page then says that the owner may not read the
 * registers.
 */
void vperfctr_page_update(struct vperfctr *perfctr);
/*
 * Writes to the page's slots whether the owner may read the registers (@own). The caller is the
 * owner.
 */
void vperfctr_page_own(struct vperfctr *perfctr, bool own);
/*
 * Writes to the page's slots that the owner may no longer read the registers. Any thread may call
 * this function while the state is suspended.
 */
void vperfctr_page_disown(struct vperfctr *perfctr);

/*
 * Shows the registers, whose biases are in the page already. Only the owner looks at the page, and
 * only while it runs, so no barrier is needed.
 */
static __always_inline void show_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, (perfctr->page->seq + 1) & S32_MAX);
}

/*
 * Makes the page tell the reader to ask the kernel. The count in seq stays for the next
 * show_registers().
 */
static __always_inline void hide_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, perfctr->page->seq | S32_MIN);
}

#endif /* PERFCTR_PAGE_H */
