// SPDX-License-Identifier: GPL-2.0
/* Makes stacks of functions from stacks of addresses. */
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

/* Adds a named function. Each text is stored once, so addresses are compared. */
static uint32_t named_add(struct stacks *stacks, const struct named *named)
{
	struct table *table = &stacks->named_table;
	uint64_t hash = mix((uintptr_t)named->function ^ mix((uintptr_t)named->object) ^
			    (named->is_thread ? 1 : 0));
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (stacks->named[i].function == named->function &&
		    stacks->named[i].object == named->object &&
		    stacks->named[i].is_thread == named->is_thread)
			return i;
	i = (uint32_t)table->n;
	stacks->named = grow(stacks->named, i, &stacks->named_capacity, sizeof(*stacks->named));
	stacks->named[i] = *named;
	table_add(table, hash);
	return i;
}

static uint32_t call_add(struct stacks *stacks, uint32_t parent, uint32_t named)
{
	struct table *table = &stacks->calls_table;
	uint64_t hash = mix((uint64_t)parent << 32 | named);
	struct call *call;
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (stacks->calls[i].parent == parent && stacks->calls[i].named == named)
			return i;
	i = (uint32_t)table->n;
	stacks->calls = grow(stacks->calls, i, &stacks->calls_capacity, sizeof(*stacks->calls));
	call = &stacks->calls[i];
	*call = (struct call){ parent, named, NO_NODE, NO_NODE, NO_WEIGHT };
	if (parent == NO_NODE) {
		call->next = stacks->first;
		stacks->first = i;
	} else {
		call->next = stacks->calls[parent].first;
		stacks->calls[parent].first = i;
	}
	table_add(table, hash);
	return i;
}

/* The functions at one address. Many stacks may have this address. */
struct place {
	uint32_t object;
	uint64_t address;
	unsigned int n;
	uint32_t named[MAX_FRAMES];	/* the innermost function first */
};

struct places {
	struct place **place;
	size_t capacity;
	struct table table;
};

static const struct place *find_place(struct places *places, struct stacks *stacks,
				      struct symbols *symbols, const struct node *node)
{
	struct table *table = &places->table;
	uint64_t hash = mix(node->address ^ mix(node->object));
	struct place place = { .object = node->object, .address = node->address };
	struct frame frames[MAX_FRAMES];
	unsigned int k;
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (places->place[i]->object == node->object &&
		    places->place[i]->address == node->address)
			return places->place[i];
	place.n = symbols_frames(symbols, node->object, node->address, frames);
	for (k = 0; k < place.n; k++) {
		const struct named named = {
			frames[k].kind, false, frames[k].function, frames[k].object,
		};

		place.named[k] = named_add(stacks, &named);
	}
	i = (uint32_t)table->n;
	places->place = (struct place **)grow((void *)places->place, i, &places->capacity,
					      sizeof(struct place *));
	/* Most places have one function, so only the used part of @named is kept. */
	places->place[i] = copy_memory(&place, offsetof(struct place, named) +
				       place.n * sizeof(place.named[0]));
	table_add(table, hash);
	return places->place[i];
}

static void add_weight(struct stacks *stacks, uint32_t index, const uint64_t *weight)
{
	struct call *call = &stacks->calls[index];
	unsigned int n = stacks->profile->ncolumns, i;
	uint64_t *sum;

	if (call->weight == NO_WEIGHT) {
		call->weight = (uint32_t)stacks->nweights;
		stacks->weights = grow(stacks->weights, stacks->nweights,
				       &stacks->weights_capacity, n * sizeof(*weight));
		memset(stacks->weights + stacks->nweights * n, 0, n * sizeof(*weight));
		stacks->nweights++;
	}
	sum = stacks->weights + (size_t)call->weight * n;
	for (i = 0; i < n; i++)
		sum[i] = add_counts(sum[i], weight[i]);
}

void stacks_make(struct stacks *stacks, struct symbols *symbols)
{
	const struct profile *profile = symbols->profile;
	size_t n = profile->nodes_table.n, i;
	uint32_t *calls = get_memory(n, sizeof(*calls)), call;
	struct places places = { .place = NULL };

	memset(stacks, 0, sizeof(*stacks));
	stacks->profile = profile;
	stacks->first = NO_NODE;
	for (i = 0; i < n; i++) {
		const struct node *node = &profile->nodes[i];
		const struct place *place;
		unsigned int k;

		call = node->parent == NO_NODE ? NO_NODE : calls[node->parent];
		if (node->object == OBJECT_THREAD) {
			const struct named named = { FRAME_USER, true,
				profile->texts.text[node->address], "" };

			call = call_add(stacks, call, named_add(stacks, &named));
		} else {
			place = find_place(&places, stacks, symbols, node);
			for (k = place->n; k-- > 0; )
				call = call_add(stacks, call, place->named[k]);
		}
		calls[i] = call;
		if (node->weight != NO_WEIGHT)
			add_weight(stacks, call, profile->weights +
				   (size_t)node->weight * profile->ncolumns);
	}
	for (i = 0; i < places.table.n; i++)
		free(places.place[i]);
	free((void *)places.place);
	table_free(&places.table);
	free(calls);
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->named);
	free(stacks->calls);
	free(stacks->weights);
	table_free(&stacks->named_table);
	table_free(&stacks->calls_table);
}

uint64_t stacks_self(const struct stacks *stacks, uint32_t call, unsigned int column)
{
	uint32_t weight = stacks->calls[call].weight;

	if (weight == NO_WEIGHT)
		return 0;
	return stacks->weights[(size_t)weight * stacks->profile->ncolumns + column];
}

uint64_t *stacks_inclusive(const struct stacks *stacks, unsigned int column)
{
	size_t n = stacks->calls_table.n, i;
	uint64_t *sum = get_memory(n, sizeof(*sum));

	for (i = n; i-- > 0; ) {
		uint32_t parent = stacks->calls[i].parent;

		sum[i] = add_counts(sum[i], stacks_self(stacks, (uint32_t)i, column));
		if (parent != NO_NODE)
			sum[parent] = add_counts(sum[parent], sum[i]);
	}
	return sum;
}

uint32_t stacks_next(const struct stacks *stacks, uint32_t call, unsigned int *depth)
{
	if (stacks->calls[call].first != NO_NODE) {
		++*depth;
		return stacks->calls[call].first;
	}
	while (stacks->calls[call].next == NO_NODE) {
		call = stacks->calls[call].parent;
		if (call == NO_NODE)
			return NO_NODE;
		--*depth;
	}
	return stacks->calls[call].next;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static uint32_t row_add(struct rows *rows, const struct row *row)
{
	uint64_t hash = mix((row->comm ? hash_text(row->comm) : 0) ^
			    mix((row->object ? hash_text(row->object) : 0) ^
				mix(row->function ? hash_text(row->function) : 0)));
	uint32_t i;

	for (i = table_first(&rows->table, hash); i != TABLE_END; i = table_next(&rows->table))
		if (same(rows->row[i].comm, row->comm) && same(rows->row[i].object, row->object) &&
		    same(rows->row[i].function, row->function))
			return i;
	i = (uint32_t)rows->n;
	rows->row = grow(rows->row, rows->n, &rows->capacity, sizeof(*rows->row));
	rows->row[rows->n++] = *row;
	table_add(&rows->table, hash);
	return i;
}

/*
 * Returns an array that has the row of each call. Some calls are only the name of a thread, not a
 * function, and have NO_NODE instead.
 */
static uint32_t *make_rows(struct rows *rows, const struct stacks *stacks, unsigned int by)
{
	size_t n = stacks->calls_table.n, i;
	uint32_t *row_of = get_memory(n, sizeof(*row_of));
	const char **comm = (const char **)get_memory(n, sizeof(*comm));

	for (i = 0; i < n; i++) {
		const struct call *call = &stacks->calls[i];
		const struct named *named = &stacks->named[call->named];
		struct row row = { .kind = named->kind };

		if (named->is_thread) {
			comm[i] = named->function;
			row_of[i] = NO_NODE;
			continue;
		}
		comm[i] = call->parent == NO_NODE ? "" : comm[call->parent];
		row.comm = by & BY_COMM ? comm[i] : NULL;
		row.object = by & BY_OBJECT ? named->object : NULL;
		row.function = by & BY_FUNCTION ? named->function : NULL;
		row_of[i] = row_add(rows, &row);
	}
	free((void *)comm);
	return row_of;
}

/*
 * Adds each call to its row, unless one of its callers has the same row. The counts of that caller
 * include the call already.
 */
static void sum_children(struct rows *rows, const struct stacks *stacks, const uint32_t *row_of,
			 unsigned int column)
{
	uint64_t *sum = stacks_inclusive(stacks, column);
	/*
	 * For each row: the outermost call with that row on the path from the root, plus 1; or 0.
	 */
	uint32_t *outer = get_memory(rows->n, sizeof(*outer));
	uint32_t call = stacks->first, up, to, row;
	unsigned int depth = 0;
	uint32_t last = NO_NODE;

	for (; call != NO_NODE; call = stacks_next(stacks, call, &depth)) {
		/* Forget calls that are not on the path any more. */
		to = stacks->calls[call].parent;
		for (up = last; up != NO_NODE && up != to; up = stacks->calls[up].parent)
			if (row_of[up] != NO_NODE && outer[row_of[up]] == up + 1)
				outer[row_of[up]] = 0;
		row = row_of[call];
		if (row != NO_NODE && !outer[row]) {
			outer[row] = call + 1;
			rows->row[row].children[column] =
				add_counts(rows->row[row].children[column], sum[call]);
		}
		last = call;
	}
	free(outer);
	free(sum);
}

struct order {
	unsigned int column;
	bool children;
};

static int compare_rows(const void *a, const void *b, void *p)
{
	const struct row *x = a, *y = b;
	const struct order *order = p;
	uint64_t m = order->children ? x->children[order->column] : x->self[order->column];
	uint64_t n = order->children ? y->children[order->column] : y->self[order->column];
	int d;

	if (m != n)
		return m > n ? -1 : 1;
	/* Sort equal counts by name, so that the order is always the same. */
	d = strcmp(x->function ? x->function : "", y->function ? y->function : "");
	if (!d)
		d = strcmp(x->object ? x->object : "", y->object ? y->object : "");
	return d ? d : strcmp(x->comm ? x->comm : "", y->comm ? y->comm : "");
}

void rows_make(struct rows *rows, const struct stacks *stacks, unsigned int by, unsigned int column,
	       bool children)
{
	unsigned int ncolumns = stacks->profile->ncolumns, k;
	struct order order = { column, children };
	size_t n = stacks->calls_table.n, i;
	uint32_t *row_of;

	memset(rows, 0, sizeof(*rows));
	row_of = make_rows(rows, stacks, by);
	for (i = 0; i < n; i++) {
		if (stacks->calls[i].weight == NO_WEIGHT || row_of[i] == NO_NODE)
			continue;
		for (k = 0; k < ncolumns; k++) {
			uint64_t *self = &rows->row[row_of[i]].self[k];

			*self = add_counts(*self, stacks_self(stacks, (uint32_t)i, k));
		}
	}
	for (k = 0; children && k < ncolumns; k++)
		sum_children(rows, stacks, row_of, k);
	free(row_of);
	/* Leave out rows that have no samples of their own. */
	for (i = 0, n = 0; !children && i < rows->n; i++)
		if (rows->row[i].self[ncolumns - 1])
			rows->row[n++] = rows->row[i];
	if (!children)
		rows->n = n;
	if (rows->n)
		qsort_r(rows->row, rows->n, sizeof(*rows->row), compare_rows, &order);
}

void rows_free(struct rows *rows)
{
	free(rows->row);
	table_free(&rows->table);
}
