// SPDX-License-Identifier: GPL-2.0
/*
 * Compares names of functions with the names that users write. A user may write
 * "outer::work<unsigned int>", "outer::work" or "work" for "unsigned int outer::work<unsigned
 * int>(unsigned int) const [clone .cold]".
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "names.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/*
 * Returns the length of "operator" with its symbol, such as "operator<", or 0 if @name is no
 * operator.
 */
static size_t operator_length(const char *name, const char *begin)
{
	const char *end = name + strlen("operator");

	if (strncmp(name, "operator", strlen("operator")) != 0 || is_word(*end) ||
	    (name > begin && is_word(name[-1])))
		return 0;
	if (!strncmp(end, "()", 2))
		end += 2;
	else if (*end == ' ')
		end += strcspn(end, "(");	/* operator new, or a conversion */
	else
		end += strspn(end, "<>=+-*/%^&|~!,[]");
	/* A blank may separate the operator from its arguments, as in "operator< <int>". */
	if (end[0] == ' ' && end[1] == '<')
		end++;
	return (size_t)(end - name);
}

/* Returns the end of the brackets that begin at @name. */
static const char *behind_brackets(const char *name)
{
	const char *begin = name;
	unsigned int depth = 0;
	size_t length;

	for (; *name; name++) {
		length = operator_length(name, begin);
		if (length) {
			name += length - 1;
			continue;
		}
		/* The > of "->" is not a bracket. */
		if (*name == '>' && name > begin && name[-1] == '-')
			continue;
		if (strchr("<([{", *name))
			depth++;
		else if (strchr(">)]}", *name) && !--depth)
			return name + 1;
	}
	return name;
}

/*
 * Copies a name without its return type and parameters. With @plain, the arguments of templates are
 * left out too. A < at the beginning stays, as in Rust's <T as Trait>::name.
 */
static void shorten(char *to, const char *name, bool plain)
{
	char *begin = to;
	const char *first = name, *end;
	size_t length;

	while (*name && strncmp(name, " [clone", 7) != 0) {
		length = operator_length(name, first);
		end = name + (length ? length : 1);
		if (!length && strchr("<([{", *name))
			end = behind_brackets(name);
		if (*name == '(' && !length) {
			/*
			 * The parentheses have the parameters, unless they are "(anonymous
			 * namespace)".
			 */
			if (strncmp(name, "(anonymous", strlen("(anonymous")) != 0)
				break;
		} else if (*name == '<' && !length && plain && to > begin) {
			/* Arguments in Rust have :: in front of them. */
			if (to - begin > 2 && to[-1] == ':')
				to -= 2;
			name = end;
			continue;
		} else if (*name == ' ' && !length) {
			/* The part before the blank was the return type. */
			to = begin;
			name = end;
			continue;
		} else if (*name == '.' && plain && to > begin && !strstr(first, "::")) {
			/* "work.part.0" is a part of work(). */
			break;
		}
		while (name < end)
			*to++ = *name++;
	}
	if (plain && to > begin && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* Says whether @asked is the whole name, or its last parts. */
static enum name_match match_parts(const char *name, const char *asked)
{
	size_t n = strlen(name), length = strlen(asked);

	if (!strcmp(name, asked))
		return NAME_WITHOUT_PARAMETERS;
	return length && n > length + 2 && !strcmp(name + n - length, asked) &&
		!strncmp(name + n - length - 2, "::", 2) ? NAME_LAST_PART : NAME_OTHER;
}

enum name_match name_match(const char *name, const char *asked)
{
	enum name_match with, without;
	char *text;

	if (!strcmp(name, asked))
		return NAME_WHOLE;
	text = get_memory(1, strlen(name) + 1);
	shorten(text, name, false);
	with = match_parts(text, asked);
	shorten(text, name, true);
	without = match_parts(text, asked);
	free(text);
	return with > without ? with : without;
}

#define MOST	64u			/* longer names are similar to no other */

/* Returns the number of letters to change, delete or insert. */
static unsigned int distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), i, k;
	unsigned int row[MOST + 1], corner, above;

	if (n > MOST || m > MOST)
		return MOST;
	for (k = 0; k <= m; k++)
		row[k] = (unsigned int)k;
	for (i = 1; i <= n; i++) {
		corner = row[0];
		row[0] = (unsigned int)i;
		for (k = 1; k <= m; k++) {
			above = row[k];
			corner += tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]);
			row[k] = above + 1 < corner ? above + 1 : corner;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			corner = above;
		}
	}
	return row[m];
}

void names_near_add(struct names_near *near, const char *name, const char *asked)
{
	char *text = get_memory(1, strlen(name) + 1), *part;
	unsigned int d, whole;
	size_t i;

	/* Compare with the whole name, and with its last part. */
	shorten(text, name, true);
	whole = distance(text, asked);
	part = strrchr(text, ':');
	d = part ? distance(part + 1, asked) : whole;
	d = d < whole ? d : whole;
	free(text);
	if (d > 1 + strlen(asked) / 3)
		return;
	for (i = 0; i < near->n; i++)
		if (!strcmp(near->name[i], name))
			return;
	for (i = near->n; i > 0 && near->distance[i - 1] > d; i--) {
		if (i < NAMES_NEAR) {
			near->name[i] = near->name[i - 1];
			near->distance[i] = near->distance[i - 1];
		}
	}
	if (i == NAMES_NEAR)
		return;
	near->name[i] = name;
	near->distance[i] = d;
	if (near->n < NAMES_NEAR)
		near->n++;
}
