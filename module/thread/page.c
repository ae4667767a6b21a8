// SPDX-License-Identifier: GPL-2.0
/*
 * The page is memory that the owner maps. This file writes to the page what is counted, and which
 * thread may read the registers. page.h shows and hides the registers.
 */

#include <linux/mm.h>

#include "arch/user.h"
#include "thread/page.h"
#include "thread/state.h"

notrace void vperfctr_page_own(struct vperfctr *perfctr, bool own)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_page *page = perfctr->page;
	u64 owner = own ? perfctr_cpu_thread_pointer(current) : 0;
	bool clock_hidden = perfctr_cpu_clock_hidden();
	unsigned int i;

	perfctr->owned = own;
	page->owner = perfctr->clock_on && !clock_hidden ? owner : 0;
	page->metrics_owner = 0;
	for (i = 0; config && i < config->nr; i++) {
		/*
		 * Inline reads do not extend the sign, which a narrow i-mode register needs. So the
		 * reader must ask the kernel. For a metric, the reader looks at metrics_owner.
		 */
		if (perfctr_cpu_metric(config->hw[i]) > 0) {
			page->metrics_owner = owner;
			page->owner = 0;
		} else if (i < perfctr_config_nr_actrs(config) || perfctr_cpu_iwidth() == 64) {
			page->slot[perfctr_cpu_slot(config, i)].owner = owner;
		} else {
			page->owner = 0;
		}
	}
	if (perfctr->clock_on)
		page->slot[PERFCTR_CPU_CLOCK_SLOT].owner = clock_hidden ? 0 : owner;
}

void vperfctr_page_disown(struct vperfctr *perfctr)
{
	if (perfctr->owned)
		vperfctr_page_own(perfctr, false);
}

struct perfctr_page *vperfctr_page_alloc(void)
{
	struct perfctr_page *page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!page)
		return NULL;
	page->size = sizeof(*page);
	page->seq = -1;
	for (i = 0; i < PERFCTR_MAX_CTRS; i++)
		page->map[i] = PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]);
	return page;
}

/* Makes the page say that nothing is counted. Only the slots in use have to change. */
static void page_reset(struct perfctr_page *page)
{
	unsigned int i, slot;

	for (i = 0; i < page->nrctrs; i++) {
		slot = page->map[i] / sizeof(page->slot[0]);
		page->slot[slot] = (struct perfctr_page_slot){};
		page->map[i] = PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]);
		page->metric[i] = 0;
	}
	page->slot[PERFCTR_CPU_CLOCK_SLOT] = (struct perfctr_page_slot){};
	page->owner = 0;
	page->metrics_owner = 0;
	page->slots = 0;
}

void vperfctr_page_update(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_page *page = perfctr->page;
	unsigned int i;

	if (!page || perfctr->stale)
		return;
	page_reset(page);
	perfctr->owned = false;
	page->cstatus = vperfctr_counted(perfctr);
	page->error = perfctr->error;
	page->nrctrs = config ? config->nr : 0;
	/* The page shows no registers of perf's. NO_SLOT tells the reader to ask the kernel. */
	if (!config || config->shared)
		return;
	for (i = 0; i < config->nr; i++) {
		int metric = perfctr_cpu_metric(config->hw[i]);

		page->operand[i] = perfctr_cpu_operand(config->hw[i]);
		if (metric > 0) {
			page->metric[i] = metric;
			continue;
		}
		page->map[i] = perfctr_cpu_slot(config, i) * sizeof(page->slot[0]);
		if (metric == PERFCTR_WHOLE && perfctr_config_has_metrics(config))
			page->slots = i;
	}
}
