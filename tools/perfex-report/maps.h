/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was mapped where. A space is a tree of maps; spaces share nodes, and a node is copied
 * before a space changes it. So a fork costs nothing, and a small recording cannot make us take
 * much memory.
 */
#ifndef PERFEX_REPORT_MAPS_H
#define PERFEX_REPORT_MAPS_H

#include <stdint.h>

/* Addresses from @start on, below @end */
struct map {
	uint64_t start, end;
	uint64_t offset;		/* in the object, of @start */
	uint32_t object;
};

struct map_node;
struct map_chunk;

/* All nodes; zeroed, it is empty. */
struct maps {
	struct map_chunk *chunks;
	uint64_t random;
	uint64_t owners;
};

/* An address space; zeroed, it is empty. It may change nodes with its own @owner only. */
struct space {
	struct map_node *root;
	uint64_t owner;
};

/* @child becomes a copy of @parent. */
void space_fork(struct maps *maps, struct space *parent, struct space *child);
/* Replaces whatever is mapped there. */
void space_map(struct maps *maps, struct space *space, const struct map *map);
void space_unmap(struct maps *maps, struct space *space, uint64_t start, uint64_t end);
void space_clear(struct space *space);
/* NULL: nothing is mapped at the address. */
const struct map *space_find(const struct space *space, uint64_t address);

/* Frees the nodes of all spaces. */
void maps_free(struct maps *maps);

#endif /* PERFEX_REPORT_MAPS_H */
