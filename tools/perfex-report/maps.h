/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was mapped where. Records tell how that changed, and a fork copies all of it; so a space is
 * a tree of maps whose nodes other spaces may have as well. What is changed is copied first, on the
 * way to it alone: a fork costs nothing, and a file cannot make us take memory that it does not
 * pay for with its own size.
 */
#ifndef PERFEX_REPORT_MAPS_H
#define PERFEX_REPORT_MAPS_H

#include <stdint.h>

/* Addresses from @start up to, and without, @end */
struct map {
	uint64_t start, end;
	uint64_t offset;		/* of @start in the object */
	uint32_t object;
};

struct map_node;
struct map_chunk;

/* Where all nodes come from. Zeroed is empty. */
struct maps {
	struct map_chunk *chunks;
	uint64_t random;
	uint64_t owners;
};

/* One address space; zeroed is empty. Nodes with its owner are its own; others are shared. */
struct space {
	struct map_node *root;
	uint64_t owner;
};

/* The new space has what the old one has now. */
void space_fork(struct maps *maps, struct space *parent, struct space *child);
/* Replaces what is there. */
void space_map(struct maps *maps, struct space *space, const struct map *map);
void space_unmap(struct maps *maps, struct space *space, uint64_t start, uint64_t end);
void space_clear(struct space *space);
/* NULL: nothing is mapped at that address. */
const struct map *space_find(const struct space *space, uint64_t address);

/* Frees the nodes of all spaces. */
void maps_free(struct maps *maps);

#endif /* PERFEX_REPORT_MAPS_H */
