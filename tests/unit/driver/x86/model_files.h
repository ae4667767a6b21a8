/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that the driver reads from files, in the mounts of the first process */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include <limits.h>
#include <stdbool.h>

/* NULL: there is no such file. "1\n" and "2\n", and no cpu_core, when the test begins */
extern const char *model_rdpmc_of_cpu, *model_rdpmc_of_core, *model_paranoid;
/* Files of this PMU's device, as "amd_df", besides those of perf's */
extern const char *model_uncore;
/* sysfs is not mounted. */
extern bool model_no_sysfs;
/* Above this perf is closed to who has no privilege; LONG_MAX: this kernel has no such level */
extern long model_closed_above;
/* There is no first process, or it has ended so far that it has no mounts. */
extern bool model_no_init, model_init_ends;
/* Of all that was taken to read them */
extern int model_file_refs;

/* The kernel loads a module of that name. */
void model_module_comes(const char *name);

#endif /* MODEL_FILES_H */
