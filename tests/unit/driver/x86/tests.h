/* SPDX-License-Identifier: GPL-2.0 */
#ifndef X86_TESTS_H
#define X86_TESTS_H

#include "threads.h"
#include "unit.h"

void test_model(void);

#endif /* X86_TESTS_H */
