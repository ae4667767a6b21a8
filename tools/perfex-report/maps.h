/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps what was mapped where. A space is a tree of maps. Spaces share nodes, and a node is copied
 * before a space changes it. So a fork costs nothing, and a small recording cannot make
 * perfex-report take much memory.
 */
#ifndef PERFEX_REPORT_MAPS_H
#define PERFEX_REPORT_MAPS_H

#include <stdint.h>

/* A mapping of the addresses from @start on, below @end. */
struct map {
	uint64_t start, end;
	uint64_t offset;		/* offset of @start in the object */
	uint32_t object;
};

struct map_node;
struct map_chunk;

/* The nodes of all spaces. A zeroed structure is empty. */
struct maps {
	struct map_chunk *chunks;
	uint64_t random;
	uint64_t owners;
};

/*
 * An address space. A zeroed structure is empty. A space may change only nodes with its own @owner.
 */
struct space {
	struct map_node *root;
	uint64_t owner;
};

/* Makes @child a copy of @parent. */
void space_fork(struct maps *maps, struct space *parent, struct space *child);
/* Adds a map, which replaces whatever is mapped at its addresses. */
void space_map(struct maps *maps, struct space *space, const struct map *map);
void space_unmap(struct maps *maps, struct space *space, uint64_t start, uint64_t end);
void space_clear(struct space *space);
/* Returns the map at the address, or NULL if nothing is mapped there. */
const struct map *space_find(const struct space *space, uint64_t address);

/* Frees the nodes of all spaces. */
void maps_free(struct maps *maps);

#endif /* PERFEX_REPORT_MAPS_H */
