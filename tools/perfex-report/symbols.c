// SPDX-License-Identifier: GPL-2.0
/*
 * Finds names and lines by libdw. Each object has a Dwfl with one module, whose addresses are those
 * of the ELF file plus a bias. profile.c has converted addresses to offsets in the file, which are
 * the same in all processes. libdw finds debug information in other files by build id or
 * .gnu_debuglink.
 */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped.h"
#include "debug.h"
#include "demangle.h"
#include "functions.h"
#include "kernel.h"
#include "symbols.h"

struct elf {
	char *path;			/* path of the file that was found */
	int fd;				/* -1 if the file could not be opened */
	const char *missing;		/* why there are no symbols, or NULL */
	const char *unsure;		/* why another file may have been mapped, or NULL */
	Dwfl *dwfl;
	Dwfl_Module *module;
	bool looked;			/* debug information has been searched */
	struct debug *debug;		/* NULL if there is none */
	struct functions *functions;
	GElf_Addr bias;			/* the module's address minus the file's */
	struct load {
		uint64_t offset, size, address;
	} *loads;			/* the segments that are mapped */
	size_t nloads;
};

/*
 * Lets libdw look for debug files, which may be in directories of the system and in the program's
 * own directory, where anybody may have put something. If a file with the name of a debug file is
 * not regular, libdw finds debug files only by build id.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *debuglink, GElf_Word crc, char **found)
{
	char dir[PATH_MAX], rest[PATH_MAX], made[NAME_MAX + sizeof(".debug")], *real = realpath(file, NULL);
	const char *paths[] = { file, real }, *base_name;
	bool harmless = true;
	size_t i;

	for (i = 0; i < 2 && paths[i]; i++) {
		base_name = debug_split(paths[i], dir, sizeof(dir));
		(void)snprintf(made, sizeof(made), "%s.debug", base_name);
		harmless &= debug_is_harmless(dir, "", debuglink ?: made) &&
			debug_is_harmless(dir, ".debug/", debuglink ?: made) &&
			debug_is_harmless(dir, ".debug/", base_name) &&
			debug_is_harmless(dir, ".dwz/", debug_split(debuglink ?: made, rest,
								   sizeof(rest)));
	}
	free(real);
	if (harmless)
		return dwfl_standard_find_debuginfo(module, userdata, name, base, file, debuglink,
						    crc, found);
	return dwfl_build_id_find_debuginfo(module, userdata, name, base, file, debuglink, crc,
					    found);
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

void symbols_init(struct symbols *symbols, struct profile *profile, const struct symbols_how *how)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->profile = profile;
	symbols->how = *how;
	texts_init(&symbols->texts);
}

static void elf_free(struct elf *elf)
{
	debug_free(elf->debug);
	functions_free(elf->functions);
	if (elf->dwfl)
		dwfl_end(elf->dwfl);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->loads);
	free(elf->path);
	free(elf);
}

void symbols_free(struct symbols *symbols)
{
	struct profile *profile = symbols->profile;
	size_t i;

	for (i = 0; i < profile->objects_table.n; i++) {
		if (profile->objects[i].elf)
			elf_free(profile->objects[i].elf);
		profile->objects[i].elf = NULL;
	}
	kernel_symbols_free(symbols->kernel);
	free(symbols->names);
	table_free(&symbols->names_table);
	texts_free(&symbols->texts);
}

const char *symbols_missing(const struct object *object)
{
	return object->elf ? object->elf->missing : NULL;
}

const char *symbols_incomplete(const struct object *object)
{
	if (!object->elf)
		return NULL;
	if (functions_stripped(object->elf->functions))
		return "it is stripped, and its debugging information is not here";
	return debug_incomplete(object->elf->debug);
}

uint64_t symbols_unsure(const struct profile *profile, uint32_t object, const char **why)
{
	const struct elf *elf = profile->objects[object].elf;
	uint64_t samples = 0;
	uint32_t node, i;

	*why = elf && !elf->missing ? elf->unsure : NULL;
	for (i = 0; *why && i < profile->nodes_table.n; i++) {
		if (profile->nodes[i].weight == NO_WEIGHT)
			continue;
		for (node = i; node != NO_NODE && profile->nodes[node].object != object; )
			node = profile->nodes[node].parent;
		if (node != NO_NODE)
			samples += profile->weights[(size_t)profile->nodes[i].weight *
						    profile->ncolumns + profile->ncolumns - 1];
	}
	return samples;
}

/* Reads the mapped segments, by which offsets in the file are converted to addresses. */
static bool read_loads(struct elf *elf, Elf *e)
{
	size_t i, n, capacity = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(e, &n) < 0)
		return false;
	for (i = 0; i < n && i < 65536; i++) {
		if (!gelf_getphdr(e, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		elf->loads = grow(elf->loads, elf->nloads, &capacity, sizeof(*elf->loads));
		elf->loads[elf->nloads++] = (struct load){ p.p_offset, p.p_filesz, p.p_vaddr };
	}
	return elf->nloads > 0;
}

/* Opens a copy of this kernel's vdso, which is mapped in perfex-report itself. */
static int open_vdso(void)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR), size = 0;
	char line[256];
	unsigned long from, to;
	FILE *f = fopen("/proc/self/maps", "re");
	int fd;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start)
			size = to - from;
	if (f)
		fclose(f);
	if (!start || !size)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes a number */
	if (fd >= 0 && pwrite(fd, (void *)start, size, 0) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Gives libdw a copy of @fd. libdw closes the descriptor that it gets, but objdump needs a
 * descriptor later.
 */
static Dwfl_Module *report_file(Dwfl *dwfl, const char *path, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	Dwfl_Module *module = copy < 0 ? NULL : dwfl_report_offline(dwfl, path, path, copy);

	if (!module && copy >= 0)
		close(copy);
	return module;
}

static int open_object(struct symbols *symbols, const struct object *object, struct elf *elf,
		       struct stat *st)
{
	static const char deleted[] = " (deleted)";
	const char *dir = symbols->how.symfs ? symbols->how.symfs : "";
	size_t length = strlen(object->path);
	int fd;

	if (!strcmp(object->path, "[vdso]")) {
		fd = kernel_is_this_boot(symbols->profile->reader->header.boot_id) ?
			open_vdso() : -1;
		elf->missing = fd < 0 ? "the kernel has been booted since" : NULL;
		elf->path = copy_memory(object->path, length + 1);
		return fd;
	}
	if (object->path[0] != '/' || !object->inode) {
		elf->missing = "it is in no file";
		return -1;
	}
	/* is_that_file() finds out if another file has this name now. */
	if (length >= sizeof(deleted) &&
	    !strcmp(object->path + length + 1 - sizeof(deleted), deleted))
		length -= sizeof(deleted) - 1;
	if (asprintf(&elf->path, "%s%.*s", dir, (int)length, object->path) < 0)
		elf->path = NULL;
	fd = elf->path ? open_regular(elf->path, st) : -1;
	if (fd < 0 && errno == ENOENT)
		elf->missing = "the file is not there any more";
	else if (fd < 0 && errno == ENODEV)
		elf->missing = "it is no regular file any more";
	else if (fd < 0)
		elf->missing = "the file cannot be opened";
	return fd;
}

static bool has_build_id(const struct object *object, Elf *e)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(e, &id);

	return size == (ssize_t)object->id_size && !memcmp(id, object->id, object->id_size);
}

/*
 * Compares size and times with those that perfex recorded of a file without a build id. Returns
 * false if @st is another file. *unsure says why it may be another file.
 */
static bool has_stamp(const struct object *object, const struct stat *st, bool symfs,
		      const char **unsure)
{
	bool touched = st->st_ino != object->inode || nanoseconds(st->st_mtim) != object->mtime;

	if (st->st_size != object->size || (!symfs && touched))
		return false;
	if (touched)
		*unsure = "it has no build id, and is a copy";
	else if (nanoseconds(st->st_ctim) != object->ctime)
		*unsure = "it has no build id, and its owner, mode or name was changed since";
	return true;
}

/*
 * Compares inode and device, if nothing else was recorded. Returns false if @fd is another file. If
 * the file was changed after the recording began, it may be another file, and *unsure says why.
 */
static bool has_place(const struct symbols *symbols, const struct object *object, int fd,
		      const struct stat *st, const char **unsure)
{
	const struct recfile_header *header = &symbols->profile->reader->header;
	bool same = is_numbered(fd, object->inode, object->major, object->minor);

	if (!same && !symbols->how.symfs && st->st_ino != object->inode)
		return false;
	if (!same || st->st_ctim.tv_sec >= (int64_t)header->start ||
	    !kernel_is_this_boot(header->boot_id))
		*unsure = "nothing of it was recorded but its name";
	return true;
}

/* Returns true if the file is the one that was mapped. */
static bool is_that_file(const struct symbols *symbols, const struct object *object,
			 struct elf *elf, Elf *e, int fd, const struct stat *st)
{
	if (object->id_size) {
		if (!has_build_id(object, e))
			elf->missing = "the file has been replaced since: its build id is another "
				"than was recorded";
	} else if (object->stamped) {
		if (!has_stamp(object, st, symbols->how.symfs, &elf->unsure))
			elf->missing = "the file has been replaced since: its size, its time or "
				"its inode is another than was recorded";
	} else if (!has_place(symbols, object, fd, st, &elf->unsure)) {
		elf->missing = "another file has its name: its inode is another than was recorded";
	}
	if (object->changed)
		elf->unsure = "it was changed while it was recorded";
	return !elf->missing;
}

static void load(struct symbols *symbols, const struct object *object, struct elf *elf)
{
	struct stat st;
	GElf_Addr bias;
	Elf *e;

	elf->fd = open_object(symbols, object, elf, &st);
	if (elf->fd < 0)
		return;
	elf->dwfl = dwfl_begin(&callbacks);
	if (elf->dwfl)
		elf->module = report_file(elf->dwfl, elf->path, elf->fd);
	if (!elf->module) {
		elf->missing = "it is no ELF file";
		return;
	}
	dwfl_report_end(elf->dwfl, NULL, NULL);
	e = dwfl_module_getelf(elf->module, &bias);
	if (!e || !read_loads(elf, e)) {
		elf->missing = "it is no program or library";
		elf->module = NULL;
		return;
	}
	elf->bias = bias;
	/* The vdso has no inode. It was checked to be of this boot. */
	if (object->inode && !is_that_file(symbols, object, elf, e, elf->fd, &st))
		elf->module = NULL;
}

static struct elf *elf_of(struct symbols *symbols, uint32_t object)
{
	struct object *o = &symbols->profile->objects[object];

	if (!o->elf) {
		o->elf = get_memory(1, sizeof(*o->elf));
		load(symbols, o, o->elf);
	}
	return o->elf;
}

static bool to_elf_address(const struct elf *elf, uint64_t offset, uint64_t *address)
{
	size_t i;

	for (i = 0; i < elf->nloads; i++) {
		const struct load *l = &elf->loads[i];

		if (offset < l->offset || offset - l->offset >= l->size)
			continue;
		*address = l->address + (offset - l->offset);
		return true;
	}
	return false;
}

static struct debug *debug_of(struct elf *elf)
{
	if (!elf->looked)
		elf->debug = debug_open(elf->module);
	elf->looked = true;
	return elf->debug;
}

static struct functions *functions_of(struct elf *elf)
{
	if (!elf->functions)
		elf->functions = functions_open(elf->module);
	return elf->functions;
}

bool symbols_elf_address(struct symbols *symbols, uint32_t object, uint64_t address, uint64_t *elf)
{
	struct elf *e = elf_of(symbols, object);

	return e->module && to_elf_address(e, address, elf);
}

int symbols_fd(struct symbols *symbols, uint32_t object)
{
	return elf_of(symbols, object)->fd;
}

/*
 * Returns the name as it is in the source. The text of a symbol's name stays at its address, so
 * each name is demangled only once.
 */
static const char *readable(struct symbols *symbols, const char *name)
{
	struct table *table = &symbols->names_table;
	uint64_t hash = mix((uintptr_t)name);
	uint32_t i;
	char *plain;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (symbols->names[i].raw == name)
			return symbols->names[i].readable;
	i = (uint32_t)table->n;
	symbols->names = grow(symbols->names, i, &symbols->names_capacity, sizeof(*symbols->names));
	plain = demangle(name);
	symbols->names[i].raw = name;
	symbols->names[i].readable = texts_keep(&symbols->texts, plain ? plain : name);
	table_add(table, hash);
	free(plain);
	return symbols->names[i].readable;
}

static void find_line(struct symbols *symbols, struct elf *elf, GElf_Addr address,
		      struct frame *frame)
{
	struct debug *debug = debug_of(elf);
	const char *file = debug ? debug_line(debug, address, &frame->line) : NULL;

	frame->file = file ? texts_keep(&symbols->texts, file) : NULL;
	if (!file)
		frame->line = 0;
}

/*
 * Finds the functions that were inlined at the address, the innermost first, and returns their
 * number. @frames[n], the function around them, gets the line of its call.
 */
static unsigned int find_inlined(struct symbols *symbols, struct elf *elf, GElf_Addr address,
				 struct frame frames[MAX_FRAMES])
{
	struct debug *debug = debug_of(elf);
	struct inlined inlined[MAX_FRAMES - 1];
	unsigned int n, i;

	n = debug ? debug_inlined(debug, address, inlined, MAX_FRAMES - 1) : 0;
	for (i = 0; i < n; i++) {
		const char *name = debug_name(&inlined[i].die);

		frames[i].kind = FRAME_INLINED;
		frames[i].function = name ? readable(symbols, name) : "[unknown]";
		frames[i + 1].file = inlined[i].file ?
			texts_keep(&symbols->texts, inlined[i].file) : NULL;
		frames[i + 1].line = inlined[i].line;
	}
	return n;
}

static unsigned int unknown_frame(struct symbols *symbols, uint32_t object, struct frame *frame)
{
	const char *path = symbols->profile->objects[object].path;

	*frame = (struct frame){ "[unknown]", path, NULL, 0, FRAME_UNKNOWN };
	return 1;
}

static unsigned int kernel_frame(struct symbols *symbols, uint64_t address, struct frame *frame)
{
	const char *boot_id = symbols->profile->reader->header.boot_id;
	const struct kernel_symbol *symbol;

	if (!symbols->kernel && !symbols->kernel_missing)
		symbols->kernel = kernel_symbols_read(symbols->how.kallsyms, boot_id,
						      &symbols->kernel_missing);
	*frame = (struct frame){ "[unknown]", "[kernel]", NULL, 0, FRAME_KERNEL };
	symbol = symbols->kernel ? kernel_symbols_find(symbols->kernel, address) : NULL;
	if (!symbol)
		return 1;
	frame->function = symbol->name;
	if (symbol->module)
		frame->object = symbol->module;
	return 1;
}

unsigned int symbols_frames(struct symbols *symbols, uint32_t object, uint64_t address,
			    struct frame frames[MAX_FRAMES])
{
	unsigned int n = 0, i;
	GElf_Addr start, stop;
	const char *name, *path;
	struct elf *elf;
	uint64_t at;

	if (object == OBJECT_KERNEL)
		return kernel_frame(symbols, address, frames);
	if (object == OBJECT_UNKNOWN)
		return unknown_frame(symbols, object, frames);
	elf = elf_of(symbols, object);
	if (!elf->module || !to_elf_address(elf, address, &at))
		return unknown_frame(symbols, object, frames);
	at += elf->bias;
	find_line(symbols, elf, at, &frames[0]);
	if (!symbols->how.no_inline)
		n = find_inlined(symbols, elf, at, frames);
	path = symbols->profile->objects[object].path;
	name = functions_find(functions_of(elf), at, &start, &stop);
	frames[n].kind = name ? FRAME_USER : FRAME_UNKNOWN;
	frames[n].function = name ? readable(symbols, name) : "[unknown]";
	for (i = 0; i <= n; i++)
		frames[i].object = path;
	return n + 1;
}

bool symbols_function(struct symbols *symbols, uint32_t object, uint64_t address,
		      struct function *function)
{
	GElf_Addr start, stop;
	struct elf *elf;
	const char *name;
	uint64_t at;

	if (object == OBJECT_KERNEL || object == OBJECT_UNKNOWN)
		return false;
	elf = elf_of(symbols, object);
	if (!elf->module || !to_elf_address(elf, address, &at))
		return false;
	name = functions_find(functions_of(elf), at + elf->bias, &start, &stop);
	if (!name)
		return false;
	*function = (struct function){ object, readable(symbols, name), start - elf->bias,
		stop - start };
	return true;
}

bool symbols_has_lines(struct symbols *symbols, uint32_t object)
{
	struct elf *e = elf_of(symbols, object);

	return e->module && debug_of(e);
}

bool symbols_line(struct symbols *symbols, uint32_t object, uint64_t elf, const char **file,
		  unsigned int *line)
{
	struct elf *e = elf_of(symbols, object);
	struct frame frame;

	if (!e->module)
		return false;
	find_line(symbols, e, elf + e->bias, &frame);
	*file = frame.file;
	*line = frame.line;
	return frame.file && frame.line;
}
