// SPDX-License-Identifier: GPL-2.0
/* Reads a file that perfex --json has written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "base/values.h"
#include "merge/counts_file.h"
#include "merge/jsonread.h"

static const char *const units[] = { "%", "GHz", "s", "" };

/*
 * Each member that is a number, and the name of its value. @object is the object around the member,
 * or NULL.
 */
static const struct {
	const char *object, *member, *name;
	enum value_kind kind;
} members[] = {
	{ "clock", "ticks", "clock", VALUE_TICKS },
	{ "kernel_counts", "context_switches", "context switches", VALUE_COUNT },
	{ "kernel_counts", "migrations", "migrations", VALUE_COUNT },
	{ "kernel_counts", "minor_faults", "minor faults", VALUE_COUNT },
	{ "kernel_counts", "major_faults", "major faults", VALUE_COUNT },
	{ "exact", "subtracted", "subtracted", VALUE_SUBTRACTED },
	{ "clock", "seconds", "on a processor", VALUE_SECONDS },
	{ NULL, "elapsed", "elapsed", VALUE_SECONDS },
	{ NULL, "user", "user", VALUE_SECONDS },
	{ NULL, "system", "system", VALUE_SECONDS },
};

static bool is_true(const struct json *json)
{
	return json && json->type == JSON_TRUE;
}

static unsigned int mode_of(const struct json *json)
{
	return (is_true(json_member(json, "user")) ? PERFCTR_CTR_USER : 0) |
	       (is_true(json_member(json, "kernel")) ? PERFCTR_CTR_KERNEL : 0);
}

/* The count that made take_member() fail because it is not a whole number, or NULL. */
static const char *not_whole;

/*
 * Adds a value from a number, or from null if the value was not counted. A count must be written
 * with all its digits, because a number such as 1.5e9 may be rounded.
 */
static bool add(struct values *values, enum value_kind kind, const char *name,
		const struct json *json, double scale)
{
	struct value *value;

	if (!json || (json->type != JSON_NUMBER && json->type != JSON_NULL))
		return false;
	value = values_add(values, kind, name);
	if (!value || json->type == JSON_NULL)
		return value != NULL;
	errno = 0;
	value->known = true;
	value->number = scale * strtod(json->text, NULL);
	value->count = strtoull(json->text, NULL, 10);
	if (!value_is_whole(value))
		return !errno;
	if (errno || json->text[strspn(json->text, "0123456789")])
		not_whole = json->text;
	return !not_whole;
}

/*
 * Adds each object of an array. The object is an event or a derived value. Returns the name of a
 * member that is missing or wrong, or NULL.
 */
static const char *add_array(struct values *values, const struct json *array, enum value_kind kind,
			     const char *name_member, const char *number_member)
{
	const struct json *json, *name, *unit;
	unsigned int i;

	for (json = array->child; json; json = json->next) {
		name = json_member(json, name_member);
		if (!name || name->type != JSON_STRING)
			return name_member;
		if (!add(values, kind, name->text, json_member(json, number_member), 1))
			return number_member;
		values->value[values->n - 1].mode = mode_of(json);
		unit = json_member(json, "unit");
		for (i = 0; unit && unit->type == JSON_STRING && *units[i]; i++)
			if (!strcmp(unit->text, units[i]))
				break;
		values->value[values->n - 1].unit = unit && unit->type == JSON_STRING ? units[i] : "";
	}
	return NULL;
}

/*
 * Adds the shares of TopDown, whose names have spaces. Returns the name of a member that is wrong,
 * or NULL.
 */
static const char *take_shares(struct values *values, const struct json *object)
{
	const struct json *json;
	char *p;

	for (json = object ? object->child : NULL; json; json = json->next) {
		for (p = json->name; p && *p; p++)
			if (*p == '_')
				*p = ' ';
		if (!json->name || !add(values, VALUE_SHARE, json->name, json, 100))
			return "topdown";
	}
	return NULL;
}

/* Adds all members of a file. Returns the name of a member that is missing or wrong, or NULL. */
static const char *take_member(const struct json *json, struct counts_file *file)
{
	const struct json *counts = json_member(json, "counts"), *array, *complete, *object, *found;
	const char *bad;
	size_t i;

	if (!counts || counts->type != JSON_ARRAY)
		return "counts";
	bad = add_array(&file->values, counts, VALUE_EVENT, "event", "count");
	array = json_member(json, "derived");
	if (!bad && array)
		bad = add_array(&file->values, array, VALUE_DERIVED, "name", "value");
	if (!bad)
		bad = take_shares(&file->values, json_member(json, "topdown"));
	for (i = 0; !bad && i < sizeof(members) / sizeof(members[0]); i++) {
		object = members[i].object ? json_member(json, members[i].object) : json;
		found = json_member(object, members[i].member);
		if (found && !add(&file->values, members[i].kind, members[i].name, found, 1))
			bad = members[i].member;
	}
	complete = json_member(json, "complete");
	if (!bad && (!complete || (complete->type != JSON_TRUE && complete->type != JSON_FALSE)))
		bad = "complete";
	if (!bad && !is_true(complete)) {
		found = json_member(json, "incomplete_because");
		(void)snprintf(file->incomplete, sizeof(file->incomplete), "%s",
			       found && found->type == JSON_STRING ? found->text : "?");
	}
	return bad;
}

/*
 * Returns the last line, which has the whole run; the other lines are intervals. Returns NULL with
 * the reason in @why if the file is empty or cannot be read.
 */
static char *last_line(FILE *f, unsigned int *number, char *why, size_t size)
{
	char *line = NULL, *last = NULL;
	size_t room = 0;
	unsigned int n = 0;

	errno = 0;
	while (getline(&line, &room, f) >= 0) {
		n++;
		if (!line[strspn(line, " \t\r\n")])
			continue;
		free(last);
		last = line;
		*number = n;
		line = NULL;
		room = 0;
	}
	free(line);
	if (ferror(f)) {
		(void)snprintf(why, size, "cannot be read: %s", strerror(errno));
		free(last);
		return NULL;
	}
	if (!last)
		(void)snprintf(why, size, "is empty; expected is what perfex --json writes");
	return last;
}

bool counts_file_read(const char *path, struct counts_file *file, char *why, size_t size)
{
	FILE *f = fopen(path, "re");
	unsigned int number = 0;
	struct json *json = NULL;
	const char *bad = NULL;
	char *line, reason[160];

	file->values.n = 0;
	file->incomplete[0] = '\0';
	if (!f) {
		(void)snprintf(why, size, "cannot be read: %s", strerror(errno));
		return false;
	}
	line = last_line(f, &number, why, size);
	fclose(f);
	if (!line)
		return false;
	json = json_parse(line, reason, sizeof(reason));
	free(line);
	if (!json) {
		(void)snprintf(why, size, "line %u is no JSON: %s", number, reason);
		return false;
	}
	if (json_member(json, "interval"))
		bad = "the counts of a whole run: it ends with an interval";
	else if (json_member(json, "runs"))
		bad = "the counts of one run: they are of several (--repeat)";
	else if (json_member(json, "passes"))
		bad = "the counts of one run: they are of several (--passes)";
	if (bad) {
		(void)snprintf(why, size, "line %u is not %s", number, bad);
	} else {
		not_whole = NULL;
		bad = take_member(json, file);
		if (bad && not_whole)
			(void)snprintf(why, size, "line %u is not what perfex --json writes: '%s' is %.40s, which is no whole number of at most 2^64 - 1",
				       number, bad, not_whole);
		else if (bad)
			(void)snprintf(why, size, "line %u is not what perfex --json writes: '%s' is missing, or not what it should be",
				       number, bad);
	}
	json_free(json);
	return !bad;
}
