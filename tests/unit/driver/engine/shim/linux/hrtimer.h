/* SPDX-License-Identifier: GPL-2.0 */
#include "engine/shim/records.h"
