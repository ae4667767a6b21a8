// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's names of events of this machine's processor. The file DEVICE/events/NAME contains,
 * for example, "event=0xd0,umask=0x82". Then DEVICE/format/event tells which bits of perf's config
 * hold the value of "event" (Documentation/ABI/testing/sysfs-bus-event_source-devices-events,
 * -format).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/*
 * Reads a small file, without the newline at its end. Returns 0, or -1 if the file is missing,
 * empty or too long.
 */
static int read_file(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, buf, size);
	close(fd);
	if (len <= 0 || (size_t)len >= size)
		return -1;
	if (buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return 0;
}

/*
 * Opens the device whose events all cores have: "cpu", or the only device with a list of CPUs.
 * Returns -1 if there is none. If there are cores of several types, each type has a device of its
 * own, and no device is for all cores.
 */
static int open_pmu(const char *root)
{
	int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), device;
	unsigned int found = 0;
	char path[300], name[256] = "";
	struct dirent *entry;
	DIR *list;

	if (dir < 0)
		return -1;
	device = openat(dir, "cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = device < 0 ? fdopendir(dir) : NULL;
	if (!list) {
		close(dir);
		return device;
	}
	while ((entry = readdir(list))) {
		(void)snprintf(path, sizeof(path), "%s/cpus", entry->d_name);
		if (entry->d_name[0] == '.' || faccessat(dir, path, F_OK, 0) < 0)
			continue;
		(void)snprintf(name, sizeof(name), "%s", entry->d_name);
		found++;
	}
	if (found == 1)
		device = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	closedir(list);
	return device;
}

/*
 * Puts @value into the bits that @format names, such as "config1:0-7,32". Returns 0, or -1 if the
 * format is not understood, or @value is too large.
 */
static int place(const char *format, unsigned long long value, unsigned long long config[3])
{
	unsigned long first, last, which = 0;
	char *end;

	if (strncmp(format, "config", 6) != 0)
		return -1;
	format += 6;
	if (*format == '1' || *format == '2')
		which = (unsigned long)(*format++ - '0');
	while (*format == ':' || *format == ',') {
		first = strtoul(format + 1, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		if (end == format + 1 || first > last || last > 63)
			return -1;
		for (; first <= last; first++, value >>= 1)
			config[which] |= (value & 1) << first;
		format = end;
	}
	return *format || value ? -1 : 0;
}

/* Puts the values of all terms, such as "event=0x3c,umask=0x1,inv", into their bits. */
static int place_all(int device, char *terms, unsigned long long config[3])
{
	char path[80], format[80], *term, *value, *end;
	unsigned long long number;

	while ((term = strsep(&terms, ","))) {
		value = strchr(term, '=');
		number = 1;
		if (value) {
			*value++ = '\0';
			number = strtoull(value, &end, 0);
			if (end == value || *end)
				return -1;
		}
		(void)snprintf(path, sizeof(path), "format/%.60s", term);
		if (read_file(device, path, format, sizeof(format)) < 0 ||
		    place(format, number, config) < 0)
			return -1;
	}
	return 0;
}

int perfctr_sysfs_event(const char *root, const char *name, struct perfctr_named_event *event)
{
	char path[100], text[256], *end;
	int device, ret = ENOENT;

	memset(event, 0, sizeof(*event));
	event->map = PERFCTR_MAP_ANY;
	if (!*name || *name == '.' || strchr(name, '/'))
		return ENOENT;
	device = open_pmu(root);
	if (device < 0)
		return ENOENT;
	(void)snprintf(path, sizeof(path), "events/%.80s", name);
	if (!read_file(device, "type", text, sizeof(text))) {
		event->type = (unsigned int)strtoul(text, &end, 10);
		if (end != text && !*end && !read_file(device, path, text, sizeof(text)) &&
		    !place_all(device, text, event->config))
			ret = 0;
	}
	close(device);
	return ret;
}

int perfctr_sysfs_names(const char *root, struct perfctr_names *names)
{
	int device = open_pmu(root), events, ret = 0;
	struct dirent *entry;
	DIR *list;

	events = device < 0 ? -1 : openat(device, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (device >= 0)
		close(device);
	list = events < 0 ? NULL : fdopendir(events);
	if (!list) {
		if (events >= 0)
			close(events);
		return 0;
	}
	/* "mem-loads.scale" is no event: it describes mem-loads. */
	while (!ret && (entry = readdir(list)))
		if (!strchr(entry->d_name, '.'))
			ret = perfctr_names_add(names, entry->d_name, NULL);
	closedir(list);
	return ret;
}
