/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_STATIC_CALL_H
#define SHIM_LINUX_STATIC_CALL_H

#include "shim/kernel.h"

#define DEFINE_STATIC_CALL_NULL(name, function)	static typeof(function) *name##_called
#define static_call_update(name, function)	((void)(name##_called = (function)))
#define static_call_cond(name)			if (name##_called) name##_called

#endif /* SHIM_LINUX_STATIC_CALL_H */
