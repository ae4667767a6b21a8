// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the function at an address. The symbols are sorted once, while libdw searches all symbols
 * for each address.
 *
 * A symbol whose size covers the address is found. If there are several, the symbol that begins
 * last is preferred, then the smallest, then a global symbol, then a weak symbol, then the last by
 * name, which begins with no underscore. If no symbol covers the address, a symbol without a size
 * before the address is found.
 *
 * libdw finds the same function. It may give another of several names, and it finds a local symbol
 * only if no other symbol covers the address.
 */
#include <elf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "memory.h"

struct symbol {
	GElf_Addr start, end;		/* equal if the symbol has no size */
	GElf_Addr reach;		/* the largest @end of this symbol and those before it */
	const char *name;
	Elf *elf;			/* the file that has the symbol's section */
	GElf_Addr bias;			/* the module's address minus that in @elf */
	GElf_Word section;
	unsigned int rank;		/* local, weak or global */
	char *stub;			/* the name of a stub, which is freed; or NULL */
};

struct functions {
	struct symbol *symbol;
	size_t n, capacity;
	bool table, missed;
};

/*
 * A word of memory that has the address of a library's function. A stub of the PLT jumps through
 * it.
 */
struct slot {
	GElf_Addr address;
	const char *name;
};

struct slots {
	struct slot *slot;
	size_t n, capacity;
};

static void add_symbol(struct functions *functions, const struct symbol *symbol)
{
	functions->symbol = grow(functions->symbol, functions->n, &functions->capacity,
				 sizeof(*functions->symbol));
	functions->symbol[functions->n++] = *symbol;
}

static unsigned int rank_of(unsigned int binding)
{
	if (binding == STB_LOCAL)
		return 0;
	return binding == STB_WEAK ? 1 : 2;
}

static void add_table(struct functions *functions, Dwfl_Module *module)
{
	int i, n = dwfl_module_getsymtab(module);

	for (i = 1; i < n; i++) {
		GElf_Word section = SHN_UNDEF;
		GElf_Addr address, bias;
		const char *name;
		GElf_Sym sym;
		Elf *elf;
		int type;

		name = dwfl_module_getsym_info(module, i, &sym, &address, &section, &elf,
					       &bias);
		type = GELF_ST_TYPE(sym.st_info);
		/* Symbols such as $x mark kinds of instructions. */
		if (!name || !*name || *name == '$' || section == SHN_UNDEF || section == SHN_ABS ||
		    section == SHN_COMMON ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
			continue;
		add_symbol(functions, &(struct symbol){
			.start = address, .end = address + sym.st_size, .name = name, .elf = elf,
			.bias = bias, .section = section, .rank = rank_of(GELF_ST_BIND(sym.st_info)),
		});
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Reads the slots from the relocations. */
static void read_slots(struct slots *slots, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols;
	Elf_Scn *table = elf_getscn(elf, sh->sh_link);
	GElf_Shdr table_sh;
	size_t i, n;

	if (!data || !table || !gelf_getshdr(table, &table_sh) || table_sh.sh_type != SHT_DYNSYM ||
	    !sh->sh_entsize)
		return;
	symbols = elf_getdata(table, NULL);
	n = sh->sh_size / sh->sh_entsize;
	for (i = 0; symbols && i < n && i < INT_MAX; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		GElf_Sym sym;
		const char *name;

		if (sh->sh_type == SHT_RELA ? !gelf_getrela(data, (int)i, &rela) :
					      !gelf_getrel(data, (int)i, &rel))
			continue;
		if (sh->sh_type == SHT_REL)
			rela = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
		if (!GELF_R_SYM(rela.r_info) ||
		    !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(elf, table_sh.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		slots->slot = grow(slots->slot, slots->n, &slots->capacity, sizeof(*slots->slot));
		slots->slot[slots->n++] = (struct slot){ rela.r_offset, name };
	}
}

static uint32_t word_at(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static uint64_t extended(uint64_t value, unsigned int bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* Returns the address of the slot that the stub at @p jumps through, or 0 if there is no stub. */
static GElf_Addr slot_of(unsigned int machine, const unsigned char *p, size_t size, GElf_Addr address,
			 GElf_Addr got)
{
	size_t i;
	uint32_t a, b;

	for (i = 0; (machine == EM_X86_64 || machine == EM_386) && i + 6 <= size; i++) {
		/*
		 * The instruction is jmp *(rip) or jmp *address, and with 32 bits also jmp *(ebx).
		 */
		if (p[i] != 0xff || (p[i + 1] != 0x25 && (p[i + 1] != 0xa3 || machine != EM_386)))
			continue;
		if (machine == EM_X86_64)
			return address + i + 6 + extended(word_at(p + i + 2), 32);
		return (uint32_t)(word_at(p + i + 2) + (p[i + 1] == 0xa3 ? got : 0));
	}
	for (i = 0; (machine == EM_AARCH64 || machine == EM_RISCV) && i + 8 <= size; i += 4) {
		a = word_at(p + i);
		b = word_at(p + i + 4);
		/* The instructions are adrp x16; ldr x17, [x16, #offset]. */
		if (machine == EM_AARCH64 && (a & 0x9f00001f) == 0x90000010 &&
		    (b & 0xffc003ff) == 0xf9400211)
			return ((address + i) & ~(GElf_Addr)0xfff) +
				(extended((a >> 3 & 0x1ffffc) | (a >> 29 & 3), 21) << 12) +
				(b >> 10 & 0xfff) * (GElf_Addr)8;
		/* The instructions are auipc t3; ld t3, offset(t3). */
		if (machine == EM_RISCV && (a & 0xfff) == 0xe17 && (b & 0xfffff) == 0xe3e03)
			return address + i + extended(a & 0xfffff000, 32) + extended(b >> 20, 12);
	}
	return 0;
}

/* Returns the length of the code in front of the stubs. All stubs use this code. */
static size_t stub_header(unsigned int machine, const char *section)
{
	if (strcmp(section, ".plt") != 0)
		return 0;
	return machine == EM_X86_64 || machine == EM_386 ? 16 : 32;
}

static void add_stubs(struct functions *functions, const struct slots *slots, unsigned int machine,
		      Elf_Scn *scn, const GElf_Shdr *sh, const char *section, GElf_Addr got,
		      GElf_Addr bias)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = stub_header(machine, section), size = 16;
	char *name;

	if (!data || !data->d_buf)
		return;
	if ((machine == EM_X86_64 || machine == EM_386) && sh->sh_entsize == 8)
		size = 8;
	/* On aarch64 and x86, newer stubs begin with a landing pad. */
	if (machine == EM_AARCH64 && at + 4 <= data->d_size &&
	    word_at((unsigned char *)data->d_buf + at) == 0xd503245f)
		size = 24;
	for (; at + size <= data->d_size; at += size) {
		struct slot key = {
			slot_of(machine, (unsigned char *)data->d_buf + at, size, sh->sh_addr + at, got),
			NULL,
		}, *slot = NULL;

		if (key.address && slots->n)
			slot = bsearch(&key, slots->slot, slots->n, sizeof(key), compare_slots);
		if (slot && asprintf(&name, "%s@plt", slot->name) >= 0)
			add_symbol(functions, &(struct symbol){
				.start = sh->sh_addr + at + bias,
				.end = sh->sh_addr + at + size + bias, .name = name, .stub = name,
			});
	}
}

/* Adds the stubs of the PLT. The stubs are in the program itself, not in its debug information. */
static void add_plt(struct functions *functions, Dwfl_Module *module)
{
	struct slots slots = { .slot = NULL };
	GElf_Addr bias, got = 0;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!elf || !gelf_getehdr(elf, &eh) || elf_getshdrstrndx(elf, &names) ||
	    eh.e_ident[EI_DATA] != (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		if ((sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL) && sh.sh_flags & SHF_ALLOC)
			read_slots(&slots, elf, scn, &sh);
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && (!strcmp(name, ".got.plt") || (!got && !strcmp(name, ".got"))))
			got = sh.sh_addr;
	}
	if (slots.n)
		qsort(slots.slot, slots.n, sizeof(*slots.slot), compare_slots);
	for (scn = NULL; (scn = elf_nextscn(elf, scn)); ) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && (!strcmp(name, ".plt") || !strcmp(name, ".plt.sec") ||
			     !strcmp(name, ".plt.got")))
			add_stubs(functions, &slots, eh.e_machine, scn, &sh, name, got, bias);
	}
	free(slots.slot);
}

static bool has_table(Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		/* .gnu_debugdata is a compressed symbol table. */
		if (sh.sh_type == SHT_SYMTAB || (name && !strcmp(name, ".gnu_debugdata")))
			return true;
	}
	return false;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	GElf_Addr size_x = x->end - x->start, size_y = y->end - y->start;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/*
	 * find_symbol() tries the last symbol first, so symbols without a size stand before others.
	 */
	if (!size_x != !size_y)
		return !size_x ? -1 : 1;
	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct functions *functions_open(Dwfl_Module *module)
{
	struct functions *functions = get_memory(1, sizeof(*functions));
	const char *debug = NULL;
	GElf_Addr bias, reach = 0;
	size_t i;

	add_table(functions, module);
	(void)dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, &debug);
	functions->table = debug || has_table(dwfl_module_getelf(module, &bias));
	add_plt(functions, module);
	if (functions->n)
		qsort(functions->symbol, functions->n, sizeof(*functions->symbol), compare_symbols);
	for (i = 0; i < functions->n; i++) {
		if (functions->symbol[i].end > reach)
			reach = functions->symbol[i].end;
		functions->symbol[i].reach = reach;
	}
	return functions;
}

void functions_free(struct functions *functions)
{
	size_t i;

	if (!functions)
		return;
	for (i = 0; i < functions->n; i++)
		free(functions->symbol[i].stub);
	free(functions->symbol);
	free(functions);
}

static bool is_in_section(const struct symbol *symbol, GElf_Addr address)
{
	Elf_Scn *scn = symbol->elf ? elf_getscn(symbol->elf, symbol->section) : NULL;
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
		address - symbol->bias < sh.sh_addr + sh.sh_size;
}

static const struct symbol *find_symbol(const struct functions *functions, GElf_Addr address)
{
	size_t low = 0, high = functions->n, middle, i;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (functions->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (i = low; i > 0 && functions->symbol[i - 1].reach > address; i--)
		if (functions->symbol[i - 1].end > address)
			return &functions->symbol[i - 1];
	/* A symbol without a size extends to the next symbol, or to the end of its section. */
	return low && functions->symbol[low - 1].reach == functions->symbol[low - 1].start &&
		is_in_section(&functions->symbol[low - 1], address) ?
			&functions->symbol[low - 1] : NULL;
}

const char *functions_find(struct functions *functions, GElf_Addr address, GElf_Addr *start,
			   GElf_Addr *end)
{
	const struct symbol *symbol = find_symbol(functions, address);

	if (!symbol) {
		functions->missed = true;
		return NULL;
	}
	*start = symbol->start;
	*end = symbol->end > symbol->start ? symbol->end : address + 1;
	return symbol->name;
}

bool functions_stripped(const struct functions *functions)
{
	return functions && functions->missed && !functions->table;
}
