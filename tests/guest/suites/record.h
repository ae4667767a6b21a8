/* SPDX-License-Identifier: GPL-2.0 */
/* A ring, controls that record, and the samples in it. */
#ifndef PERFCTR_TEST_RECORD_H
#define PERFCTR_TEST_RECORD_H

#include <libperfctr.h>
#include <linux/perfctr.h>
#include <stdint.h>

#define PAGES 64
#define PERIOD ((uint64_t)1009)
#define LOOPS 200000ul

int make_ring_of(int fd, unsigned int pages, unsigned int flags);
int open_with_ring(unsigned int pages, unsigned int flags);
struct vperfctr_ring *map_ring(int fd, unsigned int pages);

/* Instructions in user mode, a sample after so many */
void control_samples(struct perfctr_control *control, int64_t period, unsigned int flags);

/* No counter: a sample after so much time */
void control_timer(struct perfctr_control *control, unsigned int ns);
const struct perfctr_record_sample *as_sample(const struct perfctr_record *record);

/* The tests of test_record_*.c, which test_record.c calls */
void record_maps(void);
void record_tree(void);
void record_rings(void);
void record_perfex(void);

#endif
