/* SPDX-License-Identifier: GPL-2.0 */
struct pt_regs;

/* No thread here has registers of user mode. */
static inline struct pt_regs *get_irq_regs(void)
{
	return (struct pt_regs *)0;
}
