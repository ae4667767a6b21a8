// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "base/line.h"

void first_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
}
