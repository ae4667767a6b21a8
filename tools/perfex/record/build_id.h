/* SPDX-License-Identifier: GPL-2.0 */
/* The build id of an ELF file, without libelf. */
#ifndef PERFEX_BUILD_ID_H
#define PERFEX_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads at most @size bytes of it to @id; returns how many; 0: there is none. */
size_t build_id_read(int fd, uint8_t *id, size_t size);

#endif /* PERFEX_BUILD_ID_H */
