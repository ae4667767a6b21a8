// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics are folded once a second. In the processor, a metric is a fraction, of few bits, of the
 * slots that were counted since the last fold (arch/x86/topdown.c). Without the folds, the number
 * of these slots would grow in a thread that is never switched. So would the error of the
 * difference between two reads of the page.
 *
 * While anybody counts metrics, each fold interrupts all told CPUs for some microseconds.
 */

#include <linux/cpu.h>
#include <linux/workqueue.h>

#include "base/hook.h"
#include "switch/run.h"
#include "config/fold.h"

#define PERIOD	HZ	/* jiffies */

static unsigned int users;	/* number of claimed configs with metrics; config_mutex */

static void fold(struct work_struct *work);
static DECLARE_DELAYED_WORK(fold_work, fold);

static void fold(struct work_struct *work)
{
	cpus_read_lock();
	perfctr_run_paid(perfctr_run_nothing, NULL);
	cpus_read_unlock();
	if (READ_ONCE(users))
		queue_delayed_work(perfctr_wq, &fold_work, PERIOD);
}

void perfctr_fold_get(void)
{
	WRITE_ONCE(users, users + 1);
	queue_delayed_work(perfctr_wq, &fold_work, PERIOD);
}

void perfctr_fold_put(void)
{
	WRITE_ONCE(users, users - 1);
}

void perfctr_fold_exit(void)
{
	cancel_delayed_work_sync(&fold_work);
}
