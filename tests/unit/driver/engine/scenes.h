/* SPDX-License-Identifier: GPL-2.0 */
/* Scenes: what is done in a certain order */
#ifndef ENGINE_SCENES_H
#define ENGINE_SCENES_H

#include "engine/world.h"

/* It counts by such a control, and has run on CPU 0; then the CPU is idle. */
struct thread *begin_shared(const struct control *control);

/* Its sums are what the model says, and its error is that, by all that reads. */
void expect_error_and_sums(struct thread *thread, u32 error);
void expect_counts_on(unsigned int cpu, struct thread *thread);

/* Called by test_scenes() */
void test_scenes_shared(void);
void test_scenes_taken(void);

#endif
