/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of a constant size, as the kernel has them. */
#ifndef SHIM_LINUX_HASHTABLE_H
#define SHIM_LINUX_HASHTABLE_H

#include "../kernel.h"

#define DEFINE_HASHTABLE(name, order)	struct hlist_head name[1 << (order)]

#define shim_bucket(table, key)							\
	(&(table)[(u64)(key) * 0x61c8864680b583ebull >> 40 &			\
		  (sizeof(table) / sizeof((table)[0]) - 1)])
#define shim_entry(from, type, member)						\
	((from) ? (type *)((char *)(from) - offsetof(type, member)) : NULL)
#define shim_for_each(pos, node, member)					\
	for ((pos) = shim_entry(node, __typeof__(*(pos)), member); pos;		\
	     (pos) = shim_entry((pos)->member.next, __typeof__(*(pos)), member))

#define hash_for_each_possible(table, pos, member, key)				\
	shim_for_each(pos, shim_bucket(table, key)->first, member)
#define hash_for_each(table, bucket, pos, member)				\
	for ((bucket) = 0; (size_t)(bucket) < sizeof(table) / sizeof((table)[0]);	\
	     (bucket)++)							\
		shim_for_each(pos, (table)[bucket].first, member)
#define shim_for_each_safe(pos, next, node, member)				\
	for ((pos) = shim_entry(node, __typeof__(*(pos)), member);		\
	     (pos) && ((next) = (pos)->member.next, 1);				\
	     (pos) = shim_entry(next, __typeof__(*(pos)), member))
#define hash_for_each_possible_safe(table, pos, next, member, key)		\
	shim_for_each_safe(pos, next, shim_bucket(table, key)->first, member)
#define hash_for_each_safe(table, bucket, next, pos, member)			\
	for ((bucket) = 0; (size_t)(bucket) < sizeof(table) / sizeof((table)[0]);	\
	     (bucket)++)							\
		shim_for_each_safe(pos, next, (table)[bucket].first, member)
#define hash_add(table, node, key)	hlist_add_head(node, shim_bucket(table, key))
#define hash_del(node)			hlist_del(node)

#endif /* SHIM_LINUX_HASHTABLE_H */
