// SPDX-License-Identifier: GPL-2.0
/*
 * Reads debug information into its own lists. Old versions of libdw find the unit of an address
 * only by .debug_aranges, which clang does not write, and walk through the whole unit each time to
 * find a function. The lists have the addresses of each unit. The addresses of a unit's functions
 * are listed when the first of them is asked for.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "debug.h"
#include "memory.h"

/* The deepest nesting of functions and blocks that is read. No compiler nests deeper. */
#define MAX_DEPTH	256

struct range {
	Dwarf_Addr low, high;
	size_t of;			/* index of a unit, or of a function in its unit */
};

struct ranges {
	struct range *range;		/* sorted by @low once complete */
	size_t n, capacity;
};

struct unit {
	Dwarf_Die die;
	bool looked;
	Dwarf_Die *function;
	size_t n, capacity;
	struct ranges ranges;		/* the addresses of functions */
};

struct debug {
	Dwfl_Module *module;
	Dwarf_Addr bias;		/* the module's address minus DWARF's */
	struct unit *unit;
	size_t n, capacity;
	struct ranges ranges;		/* the addresses of units */
	bool dwo_missing;
};

bool debug_is_harmless(const char *dir, const char *sub, const char *name)
{
	char path[3 * PATH_MAX];
	struct stat st;

	if (name[0] == '/')
		(void)snprintf(path, sizeof(path), "%s", name);
	else
		(void)snprintf(path, sizeof(path), "%s/%s%s", dir, sub, name);
	return stat(path, &st) || S_ISREG(st.st_mode);
}

const char *debug_split(const char *path, char *dir, size_t size)
{
	const char *slash = strrchr(path, '/');

	(void)snprintf(dir, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return slash ? slash + 1 : path;
}

static void add_ranges(struct ranges *ranges, Dwarf_Die *die, size_t of)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		ranges->range = grow(ranges->range, ranges->n, &ranges->capacity,
				     sizeof(*ranges->range));
		ranges->range[ranges->n++] = (struct range){ low, high, of };
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void sort(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->range, ranges->n, sizeof(*ranges->range), compare_ranges);
}

static const struct range *find_range(const struct ranges *ranges, Dwarf_Addr address)
{
	size_t low = 0, high = ranges->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ranges->range[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < ranges->range[low - 1].high ? &ranges->range[low - 1] : NULL;
}

struct debug *debug_open(Dwfl_Module *module)
{
	Dwarf_Die *die = NULL;
	struct debug *debug;
	Dwarf_Addr bias = 0;

	if (!dwfl_module_getdwarf(module, &bias))
		return NULL;
	debug = get_memory(1, sizeof(*debug));
	debug->module = module;
	debug->bias = bias;
	while ((die = dwfl_module_nextcu(module, die, &bias))) {
		debug->unit = grow(debug->unit, debug->n, &debug->capacity, sizeof(*debug->unit));
		debug->unit[debug->n] = (struct unit){ .die = *die };
		add_ranges(&debug->ranges, die, debug->n++);
	}
	sort(&debug->ranges);
	return debug;
}

void debug_free(struct debug *debug)
{
	size_t i;

	if (!debug)
		return;
	for (i = 0; i < debug->n; i++) {
		free(debug->unit[i].function);
		free(debug->unit[i].ranges.range);
	}
	free(debug->unit);
	free(debug->ranges.range);
	free(debug);
}

const char *debug_line(struct debug *debug, Dwarf_Addr address, unsigned int *line)
{
	const struct range *range = find_range(&debug->ranges, address - debug->bias);
	Dwarf_Line *found;
	const char *file;
	int number;

	*line = 0;
	found = range ? dwarf_getsrc_die(&debug->unit[range->of].die, address - debug->bias) : NULL;
	file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	if (file && !dwarf_lineno(found, &number) && number > 0)
		*line = (unsigned int)number;
	return file;
}

/* Returns true if libdw may open the file that has the functions of a split unit. */
static bool is_split_harmless(struct debug *debug, Dwarf_Die *die, const char *name)
{
	char dir[PATH_MAX], dwp[NAME_MAX + sizeof(".dwp")], *real;
	const char *main_file = NULL, *debug_file = NULL, *base, *compiled;
	Dwarf_Attribute attribute;
	bool harmless;

	(void)dwfl_module_info(debug->module, NULL, NULL, NULL, NULL, NULL, &main_file,
			       &debug_file);
	real = realpath(debug_file ?: main_file ?: "", NULL);
	base = debug_split(real ?: "", dir, sizeof(dir));
	(void)snprintf(dwp, sizeof(dwp), "%s.dwp", base);
	compiled = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
	harmless = debug_is_harmless(dir, "", dwp) && debug_is_harmless(dir, "", name);
	if (harmless && compiled && name[0] != '/') {
		char sub[PATH_MAX];

		(void)snprintf(sub, sizeof(sub), "%s/", compiled);
		harmless = debug_is_harmless(compiled[0] == '/' ? compiled : dir,
					     compiled[0] == '/' ? "" : sub, name);
	}
	free(real);
	return harmless;
}

/* Returns the unit that has the functions. With -gsplit-dwarf, that unit is not @die. */
static Dwarf_Die whole_unit(struct debug *debug, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die split = { .addr = NULL };
	const char *name;

	if (!dwarf_attr(die, DW_AT_dwo_name, &attribute) &&
	    !dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute))
		return *die;
	name = dwarf_formstring(&attribute);
	if (name && is_split_harmless(debug, die, name) &&
	    !dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr)
		return split;
	debug->dwo_missing = true;
	return *die;
}

static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:	/* enumerations of Rust have methods */
	case DW_TAG_variant_part:
	case DW_TAG_variant:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

/*
 * Goes to the next child. A sibling that stands before the present child is refused, as it would
 * make an endless loop.
 */
static bool next_child(Dwarf_Die *parent, Dwarf_Die *child)
{
	const void *before = child->addr;

	return before ? !dwarf_siblingof(child, child) && (const char *)child->addr > (const char *)before :
			!dwarf_child(parent, child);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static void list_functions(struct unit *unit, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die child = { .addr = NULL };

	while (next_child(parent, &child)) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram) {
			unit->function = grow(unit->function, unit->n, &unit->capacity, sizeof(child));
			unit->function[unit->n] = child;
			add_ranges(&unit->ranges, &child, unit->n++);
		}
		if (has_functions(tag) && depth < MAX_DEPTH)
			list_functions(unit, &child, depth + 1);
	}
}

/* Finds the line that calls an inlined function. */
static void call_site(struct inlined *inlined)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word value;
	Dwarf_Die cu;
	size_t n;

	if (dwarf_formudata(dwarf_attr(&inlined->die, DW_AT_call_file, &attribute), &value) ||
	    !dwarf_diecu(&inlined->die, &cu, NULL, NULL) || dwarf_getsrcfiles(&cu, &files, &n) ||
	    value >= n)
		return;
	inlined->file = dwarf_filesrc(files, value, NULL, NULL);
	if (inlined->file &&
	    !dwarf_formudata(dwarf_attr(&inlined->die, DW_AT_call_line, &attribute), &value) &&
	    value <= UINT32_MAX)
		inlined->line = (unsigned int)value;
}

unsigned int debug_inlined(struct debug *debug, Dwarf_Addr address, struct inlined *inlined,
			   unsigned int most)
{
	const struct range *range = find_range(&debug->ranges, address - debug->bias);
	Dwarf_Die way[MAX_DEPTH], parent, child = { .addr = NULL };
	unsigned int depth = 0, n;
	struct unit *unit;

	if (!range)
		return 0;
	unit = &debug->unit[range->of];
	if (!unit->looked) {
		Dwarf_Die whole = whole_unit(debug, &unit->die);

		unit->looked = true;
		list_functions(unit, &whole, 0);
		sort(&unit->ranges);
	}
	range = find_range(&unit->ranges, address - debug->bias);
	if (!range)
		return 0;
	parent = unit->function[range->of];
	/* Children stand behind their parents in the file, so this loop ends. */
	while (depth < MAX_DEPTH && next_child(&parent, &child)) {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
		    dwarf_haspc(&child, address - debug->bias) <= 0)
			continue;
		if (tag == DW_TAG_inlined_subroutine)
			way[depth++] = child;
		parent = child;
		child.addr = NULL;
	}
	for (n = 0; n < most && n < depth; n++) {
		inlined[n] = (struct inlined){ .die = way[depth - 1 - n] };
		call_site(&inlined[n]);
	}
	return n;
}

const char *debug_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ?: dwarf_diename(die);
}

const char *debug_incomplete(const struct debug *debug)
{
	return debug && debug->dwo_missing ?
		"inlined functions are in files of -gsplit-dwarf that are not here" : NULL;
}
