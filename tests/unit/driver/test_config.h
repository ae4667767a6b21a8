/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_config.c, in two files */
#ifndef TEST_CONFIG_H
#define TEST_CONFIG_H

#include "threads.h"

void begin(const struct model_machine *machine);
unsigned int configs_there(void);

/* When the module goes nothing is left, whatever was pending. */
void end(void);
struct perfctr_config *get(const struct perfctr_ctr_control *ctr, u32 nr);
void expect_error(const struct perfctr_ctr_control *ctr, u32 nr, int err);

/* Called by test_config() */
void test_config_users(void);

#endif
