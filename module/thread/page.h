/* SPDX-License-Identifier: GPL-2.0 */
/* The page that the owner maps: written, shown and hidden. See struct perfctr_page. */
#ifndef PERFCTR_PAGE_H
#define PERFCTR_PAGE_H

#include <linux/limits.h>

#include "thread/state.h"

/* A page that says that nothing is counted; NULL: no memory. May sleep. */
struct perfctr_page *vperfctr_page_alloc(void);
/* Writes to the page what the state counts, and that the owner may not read its registers. */
void vperfctr_page_update(struct vperfctr *perfctr);
/* By the owner: writes to the page's slots whether it may read its registers. */
void vperfctr_page_own(struct vperfctr *perfctr, bool own);
/* The owner may not read them any more. By anybody, while the state is suspended */
void vperfctr_page_disown(struct vperfctr *perfctr);

/*
 * The biases are in the page already. Only the owner looks at the page, and only while it runs, so
 * no barrier is needed.
 */
static __always_inline void show_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, (perfctr->page->seq + 1) & S32_MAX);
}

/* The page says "ask". The count in seq stays for the next show_registers(). */
static __always_inline void hide_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, perfctr->page->seq | S32_MIN);
}

#endif /* PERFCTR_PAGE_H */
