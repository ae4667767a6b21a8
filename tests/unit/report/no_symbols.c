// SPDX-License-Identifier: GPL-2.0
/*
 * In place of symbols.c: no file is opened, and the function at each address has its page's number
 * as name. So tests say which functions there are, and the fuzzer stays in its own memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../../tools/perfex-report/symbols.h"

void symbols_init(struct symbols *symbols, struct profile *profile, const struct symbols_how *how)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->profile = profile;
	symbols->how = *how;
	texts_init(&symbols->texts);
}

void symbols_free(struct symbols *symbols)
{
	texts_free(&symbols->texts);
}

unsigned int symbols_frames(struct symbols *symbols, uint32_t object, uint64_t address,
			    struct frame frames[MAX_FRAMES])
{
	const char *path = symbols->profile->objects[object].path;
	char name[4200];

	frames[0] = (struct frame){ "[unknown]", path, NULL, 0, FRAME_UNKNOWN };
	if (object == OBJECT_UNKNOWN)
		return 1;
	/* What a function is called is whatever was in the file: that must be escaped as well. */
	(void)snprintf(name, sizeof(name), "%s+%" PRIx64, strrchr(path, '/') ?
		       strrchr(path, '/') + 1 : path, address >> 12);
	frames[0].kind = object == OBJECT_KERNEL ? FRAME_KERNEL : FRAME_USER;
	frames[0].function = texts_keep(&symbols->texts, name);
	if (object == OBJECT_KERNEL || address >> 12 != 0xf || symbols->how.no_inline)
		return 1;
	/* Page 15 has a function that was inlined into another. */
	frames[1] = frames[0];
	frames[0].kind = FRAME_INLINED;
	frames[0].function = texts_keep(&symbols->texts, "inlined");
	return 2;
}

uint64_t symbols_unsure(const struct profile *profile, uint32_t object, const char **why)
{
	(void)profile;
	(void)object;
	*why = NULL;
	return 0;
}

const char *symbols_incomplete(const struct object *object)
{
	(void)object;
	return NULL;
}

const char *symbols_missing(const struct object *object)
{
	(void)object;
	return NULL;
}
