// SPDX-License-Identifier: GPL-2.0
/* Provides memory, tables, and messages to the user. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "memory.h"

void explain(const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	fprintf(stderr, "perfex: ");
	plain_lines(stderr, n < 0 ? "no memory is left" : text);
	fprintf(stderr, "\n");
	if (n >= 0)
		free(text);
}

static void *checked(void *memory)
{
	if (!memory) {
		explain("no memory is left");
		exit(EXIT_FAILED); // NOLINT(concurrency-mt-unsafe)
	}
	return memory;
}

void *get_memory(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size));
}

void *copy_memory(const void *from, size_t size)
{
	return memcpy(checked(malloc(size ? size : 1)), from, size);
}

void *grow(void *array, size_t n, size_t *capacity, size_t size)
{
	if (n < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	return checked(reallocarray(array, *capacity, size));
}

uint64_t hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ull;
	return mix(h);
}

uint32_t table_next(struct table *table)
{
	size_t mask = ((size_t)1 << table->bits) - 1;
	uint32_t i;

	while (table->slot[table->at]) {
		i = table->slot[table->at] - 1;
		table->at = (table->at + 1) & mask;
		if (table->hash[i] == table->wanted)
			return i;
	}
	return TABLE_END;
}

uint32_t table_first(struct table *table, uint64_t hash)
{
	if (!table->slot)
		return TABLE_END;
	table->wanted = hash;
	table->at = (size_t)hash & (((size_t)1 << table->bits) - 1);
	return table_next(table);
}

static void table_put(struct table *table, uint32_t i)
{
	size_t mask = ((size_t)1 << table->bits) - 1;
	size_t at = (size_t)table->hash[i] & mask;

	while (table->slot[at])
		at = (at + 1) & mask;
	table->slot[at] = i + 1;
}

void table_add(struct table *table, uint64_t hash)
{
	uint32_t i;

	if (table->n >= UINT32_MAX - 1) {
		explain("there are too many different things in it");
		exit(EXIT_FAILED); // NOLINT(concurrency-mt-unsafe)
	}
	table->hash = grow(table->hash, table->n, &table->capacity, sizeof(*table->hash));
	table->hash[table->n++] = hash;
	if (table->slot && table->n <= (size_t)1 << (table->bits - 1)) {
		table_put(table, (uint32_t)(table->n - 1));
		return;
	}
	table->bits = table->bits ? table->bits + 1 : 6;
	free(table->slot);
	table->slot = get_memory((size_t)1 << table->bits, sizeof(*table->slot));
	for (i = 0; i < table->n; i++)
		table_put(table, i);
}

void table_free(struct table *table)
{
	free(table->slot);
	free(table->hash);
	memset(table, 0, sizeof(*table));
}

void texts_init(struct texts *texts)
{
	memset(texts, 0, sizeof(*texts));
	texts_add(texts, "");
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	uint64_t hash = hash_text(text);
	uint32_t i;

	for (i = table_first(&texts->table, hash); i != TABLE_END; i = table_next(&texts->table))
		if (!strcmp(texts->text[i], text))
			return i;
	i = (uint32_t)texts->table.n;
	texts->text = (char **)grow((void *)texts->text, i, &texts->capacity,
				    sizeof(*texts->text));
	texts->text[i] = copy_memory(text, strlen(text) + 1);
	table_add(&texts->table, hash);
	return i;
}

const char *texts_keep(struct texts *texts, const char *text)
{
	uint32_t i = texts_add(texts, text);

	return texts->text[i];
}

void texts_free(struct texts *texts)
{
	size_t i;

	for (i = 0; i < texts->table.n; i++)
		free(texts->text[i]);
	free((void *)texts->text);
	table_free(&texts->table);
	memset(texts, 0, sizeof(*texts));
}
