// SPDX-License-Identifier: GPL-2.0
/* The device tree, as far as shim/linux/of.h has it. A node is a pointer into shim_nodes. */
#include "riscv/shim/linux/of.h"

unsigned int shim_cpu_nodes;
struct shim_cpu_node shim_nodes[SHIM_CPUS];

struct device_node *of_get_cpu_node(int cpu, const unsigned int *thread)
{
	(void)thread;
	if (shim_nodes[cpu].missing)
		return NULL;
	shim_cpu_nodes++;
	return (struct device_node *)&shim_nodes[cpu];
}

void of_node_put(struct device_node *node)
{
	shim_assert(node && shim_cpu_nodes);
	shim_cpu_nodes--;
}

static const struct shim_cpu_node *cpu_node(const struct device_node *node)
{
	return (const struct shim_cpu_node *)node;
}

/* The list's strings are separated by blanks here. */
int of_property_match_string(const struct device_node *node, const char *name,
			     const char *string)
{
	const char *list = cpu_node(node)->extensions;
	size_t length = strlen(string);
	int i;

	if (strcmp(name, "riscv,isa-extensions") != 0 || !list)
		return -EINVAL;
	for (i = 0; *list; i++) {
		size_t n = strcspn(list, " ");

		if (n == length && !strncmp(list, string, n))
			return i;
		list += n + (list[n] != '\0');
	}
	return -ENODATA;
}

int of_property_read_string(const struct device_node *node, const char *name,
			    const char **string)
{
	if (strcmp(name, "riscv,isa") != 0 || !cpu_node(node)->isa)
		return -EINVAL;
	*string = cpu_node(node)->isa;
	return 0;
}
