/* SPDX-License-Identifier: GPL-2.0 */
/* Files as the driver reads them: x86/model_files.c. And what else it reads numbers by. */
#ifndef SHIM_FS_STRUCT_H
#define SHIM_FS_STRUCT_H

#include <linux/path.h>

#include "shim/kernel.h"

#ifndef O_RDONLY
#define O_RDONLY	0
#endif

struct fs_struct {
	int unused;
};

void get_fs_root(struct fs_struct *fs, struct path *root);
struct file *file_open_root(const struct path *root, const char *name, int flags, int mode);
ssize_t kernel_read(struct file *file, void *to, size_t count, loff_t *pos);
void fput(struct file *file);
const struct cred *override_creds(const struct cred *cred);
void revert_creds(const struct cred *cred);

/* In the place of a number that the makefile of the module finds in the kernel */
extern long model_closed_above;

/* As the kernel's: digits, maybe a sign, and nothing else */
static inline int kstrtol(const char *text, unsigned int base, long *number)
{
	char *end;

	*number = strtol(text, &end, (int)base);
	return end == text || *end ? -EINVAL : 0;
}

static inline char *strim(char *text)
{
	size_t length = strlen(text);

	while (length && strchr(" \t\n", text[length - 1]))
		text[--length] = 0;
	return text + strspn(text, " \t\n");
}

#endif /* SHIM_FS_STRUCT_H */
