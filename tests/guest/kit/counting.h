/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The raw ABI in the few calls that most tests start with. Most of them assert (ck_*):
 * if the call fails, so does the test. So these are for the test's own process; the calls
 * for helpers (see rivals.h) return errors.
 */
#ifndef PERFCTR_COUNTING_H
#define PERFCTR_COUNTING_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/perfside.h"

#define PAGE_SIZE ((size_t)4096)

/* Bytes of a struct perfctr_control with @n counters, and of a read likewise. */
#define CONTROL_SIZE(n) \
	(offsetof(struct perfctr_control, ctr) + (n) * sizeof(struct perfctr_ctr_control))
#define READ_SIZE(n) (offsetof(struct perfctr_read, sum) + (n) * sizeof(uint64_t))

/* As perfctr 2.6 has them: on x86 whole event selects */
#if defined(__x86_64__) || defined(__i386__)
#define EVNTSEL(event)	own_evntsel(event)
#define EVNTSEL_INT(event)	(EVNTSEL(event) | evntsel_interrupt())
#else
#define EVNTSEL(event)	(event)
#define EVNTSEL_INT(event)	(event)
#endif

/*
 * The select of counter @i of a cpu_control of 2.6's, whose pmc_map[] is set already, and what else a
 * Pentium 4 must be told of the event
 */
#if defined(__x86_64__) || defined(__i386__)
#define OLD_EVENT(cpu, i, ev) do {						\
	(cpu)->evntsel[i] = EVNTSEL(ev);					\
	if (own_config(ev)) {							\
		(cpu)->p4.escr[i] = (unsigned int)own_config(ev) | 4;		\
		if ((cpu)->pmc_map[i] == PERFCTR_MAP_ANY)			\
			(cpu)->pmc_map[i] =					\
				PERFCTR_P4_ANY((unsigned int)(own_event(ev) >> 32) - 1);	\
	}									\
} while (0)
#else
#define OLD_EVENT(cpu, i, ev)	((void)((cpu)->evntsel[i] = EVNTSEL(ev)))
#endif

/* In a control of perfctr 2.6: user mode alone, and so many events until the first overflow */
#if defined(__powerpc__)
#define USER_MODE(control)	((control)->cpu_control.ppc.mmcr0 = 1u << 30)	/* FCS */
#define IRESET(period)		((int)(0x80000000u - (period)))
#else
#define USER_MODE(control)	((void)(control))	/* EVNTSEL() says so, or it is usual. */
#define IRESET(period)		(-(int)(period))
#endif

/* Whether the permission to read registers is a thread's (riscv), or not */
#if defined(__riscv)
#define CONTROL_RAW	PERFCTR_CONTROL_RAW
#else
#define CONTROL_RAW	0
#endif

/* --- calls that return -errno, for helpers as well as for tests --- */

int try_open(unsigned int flags);
int try_control(int fd, struct perfctr_control *control);
int try_read(int fd, struct perfctr_read *rd);
int try_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree);
const struct perfctr_page *try_map(int fd);

/* --- controls --- */

/* An EV_* as this processor has it: what control_add() and the like put in a control */
uint64_t own_event(uint64_t event);
uint64_t own_config(uint64_t event);
/* The first as a whole event select of x86, in user mode; and the bit of one that interrupts */
unsigned int own_evntsel(uint64_t event);
unsigned int evntsel_interrupt(void);
/* An empty control: no clock, no counter. Of full size. */
void control_init(struct perfctr_control *control);
/*
 * Beside perf on x86, instructions get a fixed counter, of which perf has only one. This is the map of a counter for which
 * perf's events compete: general-purpose counter @i of those that we may have. Elsewhere it is PERFCTR_MAP_ANY.
 */
uint32_t general_map(unsigned int i);
/* Adds an a-mode counter; any programmable one unless @map says which. */
void control_add_at(struct perfctr_control *control, uint32_t map, uint64_t event, uint32_t flags);
/* The same in user mode only, on any counter. */
void control_add(struct perfctr_control *control, uint64_t event);
/* Adds an i-mode counter, likewise, after all a-mode ones. */
void control_add_ictr(struct perfctr_control *control, uint64_t event, int64_t ireset);

/* --- calls that assert --- */

int open_device(void);
/* The caller's own counters, made if there are none. */
int open_self(void);
/* Opens, counts @event in user mode (and the clock), and returns the handle. */
int count_event(uint64_t event);
void set_control(int fd, struct perfctr_control *control);
void read_all(int fd, struct perfctr_read *rd);
uint64_t read_sum(int fd, unsigned int i);
uint64_t read_clock(int fd);
void unlink_self(int fd);
const struct perfctr_page *map_page(int fd);
void unmap_page(const struct perfctr_page *page);

/* --- the page --- */

/* Number of the hardware counter behind counter @i */
static inline unsigned int page_hw_counter(const struct perfctr_page *page, unsigned int i)
{
#if defined(__riscv)
	return page->map[i] / sizeof(struct perfctr_page_slot);
#elif defined(__powerpc__)
	return page->operand[i];
#else
	return page->operand[i] < 24 ? page->operand[i] : page->operand[i] - 0x40000000u + 24;
#endif
}

static inline const struct perfctr_page_slot *page_slot(const struct perfctr_page *page,
							unsigned int i)
{
	return &page->slot[page->map[i] / sizeof(struct perfctr_page_slot)];
}

/* Whether the page says "ask the kernel" for counter @i, read as the ABI says. */
bool page_asks(const struct perfctr_page *page, unsigned int i);

/* --- handles on their way --- */

int send_fd(int sock, int fd);
/* The descriptor, or -errno; EBADF for a message without one. MSG_DONTWAIT: does not wait. */
int try_receive_fd(int sock, int flags);
int receive_fd(int sock);

#endif /* PERFCTR_COUNTING_H */
