/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_OF_H
#define SHIM_OF_H

#include "shim/kernel.h"

/* The device tree: CPU nodes, which are counted */
struct device_node;
struct device_node *of_get_cpu_node(int cpu, const unsigned int *thread);
void of_node_put(struct device_node *node);
int of_property_match_string(const struct device_node *node, const char *name,
			     const char *string);
int of_property_read_string(const struct device_node *node, const char *name,
			    const char **string);

/* For tests */
extern unsigned int shim_cpu_nodes;	/* device nodes in use */
/* What the device tree says of each CPU; NULL: the CPU, or the property, is not there. */
struct shim_cpu_node {
	bool missing;
	const char *extensions;
	const char *isa;
};

extern struct shim_cpu_node shim_nodes[SHIM_CPUS];

#endif /* SHIM_OF_H */
