// SPDX-License-Identifier: GPL-2.0
/*
 * Which code of perfctr.ko has been executed. REACH=y (kbuild.sh) builds perfctr with
 * -fsanitize-coverage=trace-pc, so that each basic block calls the function below. It notes them of
 * all threads and of interrupts, in any kernel; KCOV has one thread's, of no interrupt, in a
 * kernel that is built for it.
 *
 * /proc/reach:
 *
 *	text ADDRESS	where perfctr's text is, or was
 *	init ADDRESS	... and that of its __init functions
 *	t OFFSET	a block of the text was executed: where its call returns to
 *	i OFFSET	a block of the __init functions
 *
 * The parameter `blocks` is how many there are. They are kept if perfctr is loaded again.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#define MOST	(8u << 20)	/* bytes of text */

static atomic_t blocks = ATOMIC_INIT(0);
module_param_named(blocks, blocks.counter, int, 0444);
MODULE_PARM_DESC(blocks, "blocks of perfctr that were executed");

/* @base is written while perfctr is loaded, before it executes; the rest by any context. */
static struct text {
	const char *name;
	unsigned long base;
	u8 *reached;		/* per byte of text */
} texts[] = { { "text" }, { "init" } };

void __sanitizer_cov_trace_pc(void);

void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long at = _RET_IP_ - texts[0].base;
	u8 *reached = texts[0].reached;

	if (at >= MOST) {
		at = _RET_IP_ - texts[1].base;
		reached = texts[1].reached;
	}
	/* Most often it is there, and the cache line is everybody's. */
	if (at < MOST && !READ_ONCE(reached[at]) && !xchg(&reached[at], 1))
		atomic_inc(&blocks);
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

static int on_module(struct notifier_block *block, unsigned long event, void *data)
{
	struct module *mod = data;

	if (event == MODULE_STATE_COMING && !strcmp(mod->name, "perfctr")) {
		texts[0].base = (unsigned long)mod->mem[MOD_TEXT].base;
		texts[1].base = (unsigned long)mod->mem[MOD_INIT_TEXT].base;
	}
	return NOTIFY_OK;
}

static struct notifier_block on_module_block = { .notifier_call = on_module };

static int show(struct seq_file *file, void *unused)
{
	unsigned int i, at;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		seq_printf(file, "%s %lx\n", texts[i].name, texts[i].base);
		for (at = 0; at < MOST; at++)
			if (READ_ONCE(texts[i].reached[at]))
				seq_printf(file, "%c %x\n", texts[i].name[0], at);
	}
	return 0;
}

static void free_all(void)
{
	vfree(texts[0].reached);
	vfree(texts[1].reached);
}

static int __init reach_init(void)
{
	int err = -ENOMEM;

	texts[0].reached = vzalloc(MOST);
	texts[1].reached = vzalloc(MOST);
	if (!texts[0].reached || !texts[1].reached ||
	    !proc_create_single("reach", 0444, NULL, show))
		goto err_free;
	err = register_module_notifier(&on_module_block);
	if (err)
		goto err_proc;
	return 0;

err_proc:
	remove_proc_entry("reach", NULL);
err_free:
	free_all();
	return err;
}

static void __exit reach_exit(void)
{
	unregister_module_notifier(&on_module_block);
	remove_proc_entry("reach", NULL);
	free_all();
}

module_init(reach_init);
module_exit(reach_exit);

MODULE_DESCRIPTION("which code of perfctr has been executed");
MODULE_LICENSE("GPL");
