// SPDX-License-Identifier: GPL-2.0
/*
 * Reads build ids. A linker hashes the file that it links, and writes the hash into a note, so that
 * the file is recognized whatever its name is. The note lies in a segment, so a file without
 * sections has it too.
 */
#define _FILE_OFFSET_BITS 64	/* a library with debug information may have more than 2 GB */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "record/build_id.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER	ELFDATA2LSB
#else
#define OUR_ORDER	ELFDATA2MSB
#endif

/* Linkers write fewer bytes of notes, and fewer segments. */
#define MAX_NOTES	4096
#define MAX_SEGMENTS	256

struct segment {
	uint32_t type;
	uint64_t offset, size, align;
};

static bool read_at(int fd, void *buf, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, buf, size, (off_t)offset) == (ssize_t)size;
}

static size_t aligned(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/*
 * Finds NT_GNU_BUILD_ID among the notes, and copies at most @size bytes to @id. Returns the number
 * of bytes, or 0 if there is no build id.
 */
static size_t find_note(const uint8_t *notes, size_t left, size_t align, uint8_t *id, size_t size)
{
	Elf64_Nhdr note;	/* 32-bit files have the same layout */
	size_t name, descriptor;

	while (left >= sizeof(note)) {
		memcpy(&note, notes, sizeof(note));
		if (note.n_namesz > left || note.n_descsz > left)
			return 0;
		name = sizeof(note);
		descriptor = aligned(name + note.n_namesz, align);
		if (descriptor + note.n_descsz > left)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			if (!note.n_descsz || note.n_descsz > size)
				return 0;
			memcpy(id, notes + descriptor, note.n_descsz);
			return note.n_descsz;
		}
		descriptor = aligned(descriptor + note.n_descsz, align);
		if (descriptor > left)
			return 0;
		notes += descriptor;
		left -= descriptor;
	}
	return 0;
}

static bool read_segment(int fd, bool is_64, uint64_t offset, struct segment *segment)
{
	Elf64_Phdr p64;
	Elf32_Phdr p32;

	if (is_64) {
		if (!read_at(fd, &p64, sizeof(p64), offset))
			return false;
		*segment = (struct segment){ p64.p_type, p64.p_offset, p64.p_filesz, p64.p_align };
	} else {
		if (!read_at(fd, &p32, sizeof(p32), offset))
			return false;
		*segment = (struct segment){ p32.p_type, p32.p_offset, p32.p_filesz, p32.p_align };
	}
	return true;
}

size_t build_id_read(int fd, uint8_t *id, size_t size)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} elf = { .ident = "" };
	uint8_t notes[MAX_NOTES];
	struct segment segment;
	uint64_t offset;
	unsigned int i, n, entry;
	size_t found = 0;
	bool is_64;

	if (!read_at(fd, &elf, sizeof(elf.h32), 0) || memcmp(elf.ident, ELFMAG, SELFMAG) != 0 ||
	    elf.ident[EI_DATA] != OUR_ORDER)
		return 0;
	is_64 = elf.ident[EI_CLASS] == ELFCLASS64;
	if (is_64 && !read_at(fd, &elf, sizeof(elf.h64), 0))
		return 0;
	offset = is_64 ? elf.h64.e_phoff : elf.h32.e_phoff;
	n = is_64 ? elf.h64.e_phnum : elf.h32.e_phnum;
	entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	for (i = 0; i < n && i < MAX_SEGMENTS && !found; i++) {
		if (!read_segment(fd, is_64, offset + (uint64_t)i * entry, &segment))
			return 0;
		if (segment.type != PT_NOTE)
			continue;
		if (segment.size > sizeof(notes))
			segment.size = sizeof(notes);
		if (read_at(fd, notes, (size_t)segment.size, segment.offset))
			found = find_note(notes, (size_t)segment.size,
					  segment.align == 8 ? 8 : 4, id, size);
	}
	return found;
}
