/* SPDX-License-Identifier: GPL-2.0 */
/* Provides memory, arrays that grow, tables, and messages to the user. */
#ifndef PERFEX_REPORT_MEMORY_H
#define PERFEX_REPORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Exit statuses for a wrong command line, and for a failure. */
#define EXIT_USAGE	2
#define EXIT_FAILED	125

/* Prints a message to stderr, behind the program's name. @format has no newline at its end. */
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Return @n zeroed members, and a copy of @size bytes. Both end the program if there is no memory.
 */
void *get_memory(size_t n, size_t size);
void *copy_memory(const void *from, size_t size);
/* Makes room for one more member than @n. New room is not zeroed. */
void *grow(void *array, size_t n, size_t *capacity, size_t size);

/* Mixes a hash by the last step of Murmur: each bit of @h changes all bits of the result. */
static inline uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdull;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

/* Returns the sum, or UINT64_MAX if the sum would wrap, as a file may have any numbers. */
static inline uint64_t add_counts(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

uint64_t hash_text(const char *text);

/*
 * A hash table of the indices of an array's members. To find or add a member:
 *
 *	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
 *		if (array[i] is the member)
 *			return i;
 *	(make array[table->n])
 *	table_add(table, hash);
 */
#define TABLE_END	UINT32_MAX

struct table {
	uint32_t *slot;			/* index of a member, plus 1; 0: free */
	uint64_t *hash;			/* the hash of each member */
	size_t bits, n, capacity;
	size_t at;			/* the slot at which the search is */
	uint64_t wanted;
};

uint32_t table_first(struct table *table, uint64_t hash);
uint32_t table_next(struct table *table);
/* Adds the member with index @table->n. */
void table_add(struct table *table, uint64_t hash);
void table_free(struct table *table);

/* A set of texts. Each text is stored once; the first is "". */
struct texts {
	struct table table;
	char **text;
	size_t capacity;
};

void texts_init(struct texts *texts);
uint32_t texts_add(struct texts *texts, const char *text);
/*
 * Adds a text like texts_add(). Returns the text itself, which stays where it is until
 * texts_free().
 */
const char *texts_keep(struct texts *texts, const char *text);
void texts_free(struct texts *texts);

#endif /* PERFEX_REPORT_MEMORY_H */
