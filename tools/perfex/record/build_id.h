/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the build id of an ELF file, without libelf. */
#ifndef PERFEX_BUILD_ID_H
#define PERFEX_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads at most @size bytes of the build id to @id. Returns the number of bytes, or 0 if the file
 * has no build id.
 */
size_t build_id_read(int fd, uint8_t *id, size_t size);

#endif /* PERFEX_BUILD_ID_H */
