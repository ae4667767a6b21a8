/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_PATH_H
#define SHIM_PATH_H

struct path {
	void *mnt;
};

void path_put(const struct path *path);

#endif /* SHIM_PATH_H */
