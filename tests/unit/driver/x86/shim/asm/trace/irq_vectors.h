/* SPDX-License-Identifier: GPL-2.0 */
static inline void check_trace_callback_type_irq_work_entry(void (*cb)(void *data, int vector))
{
	(void)cb;
}
