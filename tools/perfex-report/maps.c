// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps maps in treaps, which are search trees by start and heaps by a random rank. So the depth of
 * a tree is about the logarithm of its size, whatever the order in which maps are added.
 */
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "memory.h"

struct map_node {
	struct map map;
	uint32_t rank;
	uint64_t owner;			/* the only space that may change this node */
	struct map_node *left, *right;
};

struct map_chunk {
	struct map_chunk *next;
	size_t used;
	struct map_node node[256];
};

static struct map_node *new_node(struct maps *maps)
{
	struct map_chunk *chunk = maps->chunks;

	if (!chunk || chunk->used == sizeof(chunk->node) / sizeof(chunk->node[0])) {
		chunk = get_memory(1, sizeof(*chunk));
		chunk->next = maps->chunks;
		maps->chunks = chunk;
	}
	return &chunk->node[chunk->used++];
}

/* Returns a node that the space may change: the node itself, or a copy. */
static struct map_node *own(struct maps *maps, const struct space *space, struct map_node *node)
{
	struct map_node *mine;

	if (node->owner == space->owner)
		return node;
	mine = new_node(maps);
	*mine = *node;
	mine->owner = space->owner;
	return mine;
}

/* Splits a tree. Maps that begin below @at go to the left tree, all others to the right tree. */
static void split(struct maps *maps, const struct space *space, struct map_node *node, uint64_t at,
		  struct map_node **left, struct map_node **right)
{
	while (node) {
		node = own(maps, space, node);
		if (node->map.start < at) {
			*left = node;
			left = &node->right;
			node = node->right;
		} else {
			*right = node;
			right = &node->left;
			node = node->left;
		}
	}
	*left = NULL;
	*right = NULL;
}

/* Joins two trees. Each map of @left begins below each map of @right. */
static struct map_node *join(struct maps *maps, const struct space *space, struct map_node *left,
			     struct map_node *right)
{
	struct map_node *root, **at = &root;

	while (left && right) {
		if (left->rank > right->rank) {
			left = own(maps, space, left);
			*at = left;
			at = &left->right;
			left = left->right;
		} else {
			right = own(maps, space, right);
			*at = right;
			at = &right->left;
			right = right->left;
		}
	}
	*at = left ? left : right;
	return root;
}

static struct map_node *single(struct maps *maps, const struct space *space, const struct map *map)
{
	struct map_node *node = new_node(maps);

	*node = (struct map_node){ .map = *map, .owner = space->owner };
	node->rank = (uint32_t)mix(++maps->random);
	return node;
}

/* Splits the tree at @at, and also the map that crosses @at. */
static void cut(struct maps *maps, const struct space *space, struct map_node *node, uint64_t at,
		struct map_node **left, struct map_node **right)
{
	struct map_node **last = left;
	struct map rest;

	split(maps, space, node, at, left, right);
	if (!*left)
		return;
	/* Let the space own the nodes on the path to the last map. */
	while ((*last)->right) {
		(*last)->right = own(maps, space, (*last)->right);
		last = &(*last)->right;
	}
	if ((*last)->map.end <= at)
		return;
	rest = (*last)->map;
	rest.offset += at - rest.start;
	rest.start = at;
	(*last)->map.end = at;
	*right = join(maps, space, single(maps, space, &rest), *right);
}

void space_map(struct maps *maps, struct space *space, const struct map *map)
{
	struct map_node *left, *middle, *right;

	if (!space->owner)
		space->owner = ++maps->owners;
	cut(maps, space, space->root, map->start, &left, &middle);
	cut(maps, space, middle, map->end, &middle, &right);
	left = join(maps, space, left, single(maps, space, map));
	space->root = join(maps, space, left, right);
}

void space_unmap(struct maps *maps, struct space *space, uint64_t start, uint64_t end)
{
	struct map_node *left, *middle, *right;

	if (!space->root)
		return;
	cut(maps, space, space->root, start, &left, &middle);
	cut(maps, space, middle, end, &middle, &right);
	space->root = join(maps, space, left, right);
}

void space_clear(struct space *space)
{
	space->root = NULL;
}

void space_fork(struct maps *maps, struct space *parent, struct space *child)
{
	child->root = parent->root;
	parent->owner = ++maps->owners;
	child->owner = ++maps->owners;
}

const struct map *space_find(const struct space *space, uint64_t address)
{
	const struct map_node *node = space->root, *found = NULL;

	while (node) {
		if (node->map.start <= address) {
			found = node;
			node = node->right;
		} else {
			node = node->left;
		}
	}
	return found && address < found->map.end ? &found->map : NULL;
}

void maps_free(struct maps *maps)
{
	struct map_chunk *chunk;

	while ((chunk = maps->chunks)) {
		maps->chunks = chunk->next;
		free(chunk);
	}
}
