// SPDX-License-Identifier: GPL-2.0
/* Makes a tree of stacks from the records. */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

const char *column_name(const struct profile *profile, unsigned int column)
{
	unsigned int nrctrs = profile->reader->header.nrctrs;

	if (column < nrctrs)
		return profile->reader->counter[column].name;
	return column == nrctrs ? "clock" : "samples";
}

int column_find(const struct profile *profile, const char *name)
{
	unsigned int i;

	for (i = 0; i < profile->ncolumns; i++)
		if (!strcasecmp(column_name(profile, i), name))
			return (int)i;
	return -1;
}

static uint32_t object_add(struct profile *profile, const char *path, uint64_t inode,
			   uint32_t major, uint32_t minor)
{
	struct table *table = &profile->objects_table;
	uint32_t text = texts_add(&profile->texts, path), i;
	uint64_t hash = mix(inode ^ mix(((uint64_t)major << 32 | minor) ^ mix(text)));
	struct object *object;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table)) {
		object = &profile->objects[i];
		if (object->path == profile->texts.text[text] && object->inode == inode &&
		    object->major == major && object->minor == minor)
			return i;
	}
	i = (uint32_t)table->n;
	profile->objects = grow(profile->objects, i, &profile->objects_capacity,
				sizeof(*profile->objects));
	profile->objects[i] = (struct object){
		.path = profile->texts.text[text], .inode = inode, .major = major, .minor = minor,
	};
	table_add(table, hash);
	return i;
}

void profile_init(struct profile *profile, const struct reader *reader)
{
	memset(profile, 0, sizeof(*profile));
	profile->reader = reader;
	profile->ncolumns = reader->header.nrctrs + 2;
	texts_init(&profile->texts);
	(void)object_add(profile, "[unknown]", 0, 0, 0);
	(void)object_add(profile, "[kernel]", 0, 1, 0);
	(void)object_add(profile, "[thread]", 0, 2, 0);
}

static struct process *find_process(struct profile *profile, int32_t pid)
{
	struct table *table = &profile->processes_table;
	uint64_t hash = mix((uint32_t)pid);
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (profile->processes[i].pid == pid)
			return &profile->processes[i];
	i = (uint32_t)table->n;
	profile->processes = grow(profile->processes, i, &profile->processes_capacity,
				  sizeof(*profile->processes));
	profile->processes[i] = (struct process){ .pid = pid };
	table_add(table, hash);
	return &profile->processes[i];
}

/* Returns the thread, which is made if it is new. The pointer is valid until the next call. */
static struct thread *find_thread(struct profile *profile, int32_t pid, int32_t tid)
{
	struct table *table = &profile->threads_table;
	uint64_t hash = mix((uint32_t)tid);
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (profile->threads[i].tid == tid)
			return &profile->threads[i];
	i = (uint32_t)table->n;
	profile->threads = grow(profile->threads, i, &profile->threads_capacity,
				sizeof(*profile->threads));
	profile->threads[i] = (struct thread){ .pid = pid, .tid = tid };
	table_add(table, hash);
	return &profile->threads[i];
}

/* Notes that the counters of the thread begin from zero. */
static void begin_anew(struct thread *thread)
{
	free(thread->before);
	thread->before = NULL;
	thread->sampled = false;
}

static uint32_t node_add(struct profile *profile, uint32_t parent, uint32_t object,
			 uint64_t address)
{
	struct table *table = &profile->nodes_table;
	uint64_t hash = mix(address ^ mix((uint64_t)parent << 32 | object));
	struct node *node;
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table)) {
		node = &profile->nodes[i];
		if (node->parent == parent && node->object == object && node->address == address)
			return i;
	}
	i = (uint32_t)table->n;
	profile->nodes = grow(profile->nodes, i, &profile->nodes_capacity, sizeof(*profile->nodes));
	profile->nodes[i] = (struct node){ parent, object, address, NO_WEIGHT };
	table_add(table, hash);
	return i;
}

/* Returns the node of an address in user mode. @caller is true for a return address. */
static uint32_t user_node(struct profile *profile, uint32_t parent, const struct space *space,
			  uint64_t address, bool caller)
{
	const struct map *map;

	address -= caller;
	map = space_find(space, address);
	if (!map)
		return node_add(profile, parent, OBJECT_UNKNOWN, address);
	/* Memory without a file has addresses but no offsets. */
	if (profile->objects[map->object].inode)
		address = map->offset + (address - map->start);
	else if (profile->objects[map->object].path[0] == '[')
		address -= map->start;
	return node_add(profile, parent, map->object, address);
}

/*
 * Adds the nodes of a sample's stack, from the outermost function to the sampled place. Returns the
 * last node. *mapped is set if something is mapped at the place.
 */
static uint32_t sample_stack(struct profile *profile, const struct perfctr_record_sample *sample,
			     const struct thread *thread, bool *mapped)
{
	const uint64_t *kernel = sample_addresses(sample), *user = kernel + sample->kernel_depth;
	static const struct space nothing;
	const struct space *space = &find_process(profile, sample->record.pid)->space;
	bool in_kernel = sample->record.flags & PERFCTR_RECORD_KERNEL;
	uint32_t node = node_add(profile, NO_NODE, OBJECT_THREAD, thread->comm);
	unsigned int i;

	/* The maps may have changed without a record. */
	if (sample->record.flags & PERFCTR_RECORD_MAP_UNKNOWN) {
		space = &nothing;
		profile->map_unknown += sample->user_depth || !in_kernel;
	}
	for (i = sample->user_depth; i-- > 0; )
		/* A return address of 0 means that the outermost function has no caller. */
		if (user[i] || !i)
			node = user_node(profile, node, space, user[i], i > 0);
	if (!sample->user_depth && !in_kernel)
		node = user_node(profile, node, space, sample->ip, false);
	for (i = sample->kernel_depth; i-- > 0; )
		node = node_add(profile, node, OBJECT_KERNEL, kernel[i] - (i > 0));
	if (!sample->kernel_depth && in_kernel)
		node = node_add(profile, node, OBJECT_KERNEL, sample->ip);
	*mapped = profile->nodes[node].object != OBJECT_UNKNOWN;
	return node;
}

/* Stores to @difference what the thread has counted since its last sample. */
static void count_since(struct profile *profile, const struct perfctr_record_sample *sample,
			struct thread *thread, uint64_t *difference)
{
	unsigned int nrctrs = sample->nrctrs, i;
	uint64_t now, before;

	for (i = 0; i <= nrctrs; i++) {
		now = i < nrctrs ? sample->value[i] : sample->clock;
		before = thread->before ? thread->before[i] : 0;
		/* The record of another thread with this id, or of a new control, was lost. */
		if (now < before) {
			profile->backwards++;
			before = 0;
		}
		difference[i] = now - before;
	}
	difference[nrctrs + 1] = 1;
	if (!thread->before)
		thread->before = get_memory(nrctrs + 1, sizeof(*thread->before));
	for (i = 0; i < nrctrs; i++)
		thread->before[i] = sample->value[i];
	thread->before[nrctrs] = sample->clock;
}

static void add_sample(struct profile *profile, const struct perfctr_record_sample *sample)
{
	struct thread *thread = find_thread(profile, sample->record.pid, sample->record.tid);
	uint64_t difference[MAX_COLUMNS] = { 0 };
	uint64_t *weight;
	struct node *node;
	unsigned int i;
	uint32_t place;
	bool mapped;

	thread->pid = sample->record.pid;
	profile->threads_sampled += !thread->sampled;
	thread->sampled = true;
	count_since(profile, sample, thread, difference);
	place = sample_stack(profile, sample, thread, &mapped);
	node = &profile->nodes[place];
	if (node->weight == NO_WEIGHT) {
		node->weight = (uint32_t)profile->nweights;
		profile->weights = grow(profile->weights, profile->nweights,
					&profile->weights_capacity,
					profile->ncolumns * sizeof(*profile->weights));
		memset(profile->weights + profile->nweights * profile->ncolumns, 0,
		       profile->ncolumns * sizeof(*profile->weights));
		profile->nweights++;
	}
	weight = profile->weights + (size_t)node->weight * profile->ncolumns;
	for (i = 0; i < profile->ncolumns; i++) {
		weight[i] = add_counts(weight[i], difference[i]);
		profile->total[i] = add_counts(profile->total[i], difference[i]);
	}
	if (!profile->samples || sample->record.time < profile->first)
		profile->first = sample->record.time;
	if (sample->record.time > profile->last)
		profile->last = sample->record.time;
	profile->samples++;
	profile->timers += !sample->overflown;
	profile->unmapped += !mapped && !(sample->record.flags & PERFCTR_RECORD_MAP_UNKNOWN);
	profile->entered += (sample->record.flags & PERFCTR_RECORD_ENTERED) != 0;
}

static void add_map(struct profile *profile, const struct perfctr_record_map *map)
{
	struct map m = {
		.start = map->start, .end = map->start + map->length, .offset = map->offset,
	};

	m.object = object_add(profile, map->path[0] ? map->path : "//anon", map->inode, map->major,
			      map->minor);
	space_map(&profile->maps, &find_process(profile, map->record.pid)->space, &m);
}

static void add_fork(struct profile *profile, const struct perfctr_record_fork *fork)
{
	uint32_t comm = find_thread(profile, fork->parent_pid, fork->parent_tid)->comm;
	struct thread *child;
	struct process *process;
	struct space space;

	child = find_thread(profile, fork->record.pid, fork->record.tid);
	child->pid = fork->record.pid;
	child->comm = comm;
	begin_anew(child);
	if (fork->record.pid == fork->parent_pid)
		return;
	space_fork(&profile->maps, &find_process(profile, fork->parent_pid)->space, &space);
	process = find_process(profile, fork->record.pid);
	process->space = space;
}

static void add_build_id(struct profile *profile, const struct recfile_build_id *id)
{
	uint32_t i = object_add(profile, id->path, id->inode, id->major, id->minor);
	struct object *object = &profile->objects[i];

	object->changed |= object->stamped || (object->id_size && (object->id_size != id->id_size ||
		memcmp(object->id, id->id, id->id_size) != 0));
	object->stamped = false;
	object->id_size = id->id_size;
	memcpy(object->id, id->id, id->id_size);
}

static void add_file(struct profile *profile, const struct recfile_file *file)
{
	uint32_t i = object_add(profile, file->path, file->inode, file->major, file->minor);
	struct object *object = &profile->objects[i];

	object->changed |= object->id_size || (object->stamped && (object->size != file->size ||
		object->mtime != file->mtime));
	object->id_size = 0;
	object->stamped = true;
	object->size = file->size;
	object->mtime = file->mtime;
	object->ctime = file->ctime;
}

void profile_add(struct profile *profile, const struct perfctr_record *record)
{
	const void *p = record;
	const struct perfctr_record_comm *comm = p;
	const struct perfctr_record_unmap *unmap = p;
	struct thread *thread;

	switch (record->type) {
	case PERFCTR_RECORD_SAMPLE:
		add_sample(profile, p);
		break;
	case PERFCTR_RECORD_LOST:
		profile->lost = add_counts(profile->lost,
					   ((const struct perfctr_record_lost *)p)->lost);
		break;
	case PERFCTR_RECORD_THROTTLED:
		profile->throttled++;
		break;
	case PERFCTR_RECORD_MAP:
		add_map(profile, p);
		break;
	case PERFCTR_RECORD_UNMAP:
		space_unmap(&profile->maps, &find_process(profile, record->pid)->space,
			    unmap->start, unmap->start + unmap->length);
		break;
	case PERFCTR_RECORD_COMM:
		thread = find_thread(profile, record->pid, record->tid);
		thread->comm = texts_add(&profile->texts, comm->comm);
		if (record->flags & PERFCTR_RECORD_EXEC)
			space_clear(&find_process(profile, record->pid)->space);
		break;
	case PERFCTR_RECORD_FORK:
		add_fork(profile, p);
		break;
	case PERFCTR_RECORD_EXIT:
		begin_anew(find_thread(profile, record->pid, record->tid));
		break;
	case RECFILE_BUILD_ID:
		add_build_id(profile, p);
		break;
	case RECFILE_FILE:
		add_file(profile, p);
		break;
	default:
		profile->unknown++;
		break;
	}
}

void profile_free(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->threads_table.n; i++)
		free(profile->threads[i].before);
	free(profile->threads);
	free(profile->processes);
	free(profile->objects);
	free(profile->nodes);
	free(profile->weights);
	table_free(&profile->threads_table);
	table_free(&profile->processes_table);
	table_free(&profile->objects_table);
	table_free(&profile->nodes_table);
	maps_free(&profile->maps);
	texts_free(&profile->texts);
}
