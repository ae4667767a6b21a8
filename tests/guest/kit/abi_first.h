/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ABI as it was when it was first released: structures, sizes, flags and numbers of
 * calls, as programs were built with them. Nobody changes anything here, whatever becomes
 * of <linux/perfctr.h>: such programs must work for ever, and test_abi_first.c runs one.
 */
#ifndef ABI_FIRST_H
#define ABI_FIRST_H

#include <stddef.h>
#include <stdint.h>

#define FIRST_ABI_VERSION	0x07000000u

/* ioctl requests: _IO(0xd0, nr), which has a bit more on powerpc */
#if defined(__powerpc__)
#define FIRST_IO(nr)		(0x2000d000u | (nr))
#else
#define FIRST_IO(nr)		(0xd000u | (nr))
#endif
#define FIRST_INFO		FIRST_IO(0x10)
#define FIRST_CPUS		FIRST_IO(0x11)
#define FIRST_OPEN		FIRST_IO(0x12)
#define FIRST_CONTROL		FIRST_IO(0x13)
#define FIRST_READ		FIRST_IO(0x14)
#define FIRST_READ_CONTROL	FIRST_IO(0x15)
#define FIRST_UNLINK		FIRST_IO(0x16)
#define FIRST_IRESUME		FIRST_IO(0x17)
#define FIRST_READ_TREE		FIRST_IO(0x18)
#define FIRST_NEXT_MEMBER	FIRST_IO(0x19)
#define FIRST_SUSPEND		FIRST_IO(0x1a)
#define FIRST_RESUME		FIRST_IO(0x1b)
#define FIRST_REFRESH		FIRST_IO(0x1c)

#define FIRST_MAX_CTRS		64
#define FIRST_MAX_SIZE		65536u
#define FIRST_NO_INDEX		0xffffffffu
#define FIRST_MAP_ANY		0xffffffffu
#define FIRST_CTR_USER		1u
#define FIRST_CTR_KERNEL	2u
#define FIRST_OPEN_CREAT	1u
#define FIRST_OPEN_EXCL		2u
#define FIRST_OPEN_PIDFD	4u
#define FIRST_CLOEXEC		1u
#define FIRST_ON_EXEC		2u
#define FIRST_INHERIT		4u
#define FIRST_KEEP		8u
#define FIRST_RAW		16u
#define FIRST_SUSPENDED		32u
#define FIRST_HOLDER_ONLY	64u
#define FIRST_CSTATUS_CLOCK	0x80000000u
#define FIRST_READ_ATTACHED	1u
#define FIRST_READ_ON_EXEC	2u
#define FIRST_READ_OVERFLOWN	4u
#define FIRST_READ_THROTTLED	8u
#define FIRST_READ_SUSPENDED	16u
#define FIRST_TREE_ROOT		1u
#define FIRST_TREE_ENDED	2u
#define FIRST_TREE_LIVE		4u
#define FIRST_MEMBER_LIVE	1u
#define FIRST_OWNER_NONE	0u
#define FIRST_OWNER_HOLDER	5u
#define FIRST_PAGE_NO_SLOT	65u

struct first_info {
	uint32_t size;
	uint32_t abi_version;
	char driver_version[32];
	uint32_t cpu_type;
	uint32_t cpu_features;
	uint32_t cpu_khz;
	uint32_t tsc_to_cpu_mult;
	uint64_t tsc_hz;
	uint32_t nrctrs;
	uint32_t no_counters;
	uint32_t user_read;
	uint32_t width;
	uint64_t counters;
	uint64_t events[2];
	uint64_t reserved[11];
};

struct first_cpus {
	uint32_t size;
	uint32_t which;
	uint32_t nrwords;
	uint32_t reserved;
	uint64_t mask;
};

struct first_open {
	uint32_t size;
	uint32_t flags;
	int32_t pidfd;
	uint32_t reserved0;
	uint64_t reserved[6];
};

struct first_ctr_control {
	uint32_t map;
	uint32_t flags;
	uint64_t event;
	uint64_t config;
	int64_t ireset;
	uint64_t reserved[4];
};

struct first_control {
	uint32_t size;
	uint32_t flags;
	uint32_t ctr_offset;
	uint32_t ctr_size;
	uint32_t tsc_on;
	uint32_t nractrs;
	uint32_t nrictrs;
	int32_t si_signo;
	uint64_t preserve;
	uint64_t refresh;
	uint32_t refused;
	uint32_t owner;
	uint64_t reserved[9];
	struct first_ctr_control ctr[FIRST_MAX_CTRS];
};

struct first_soft {
	uint64_t switches;
	uint64_t migrations;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t task_clock;
};

struct first_read {
	uint32_t size;
	uint32_t cstatus;
	uint32_t error;
	uint32_t nrctrs;
	uint32_t flags;
	uint32_t overflows;
	uint64_t clock;
	uint64_t sum[FIRST_MAX_CTRS];
	struct first_soft soft;
};

struct first_read_tree {
	uint32_t size;
	uint32_t which;
	uint32_t cstatus;
	uint32_t error;
	uint32_t nrctrs;
	uint32_t reserved;
	uint64_t tree_id;
	uint64_t live;
	uint64_t ended;
	uint64_t missed;
	uint64_t not_kept;
	uint64_t clock;
	uint64_t sum[FIRST_MAX_CTRS];
	struct first_soft soft;
};

struct first_member {
	uint32_t size;
	uint32_t flags;
	uint64_t cursor;
	int32_t tid;
	int32_t tgid;
	char comm[16];
	uint32_t error;
	uint32_t nrctrs;
	uint64_t clock;
	uint64_t sum[FIRST_MAX_CTRS];
	struct first_soft soft;
};

struct first_page_slot {
	uint64_t owner;
	uint64_t bias;
};

struct first_page {
	uint32_t size;
	int32_t seq;
	uint32_t cstatus;
	uint32_t error;
	uint32_t nrctrs;
	uint32_t reserved;
	uint64_t owner;
	uint32_t map[FIRST_MAX_CTRS];
	struct first_page_slot slot[66];
	uint32_t operand[FIRST_MAX_CTRS];
};

/* The same for programs of 32 and 64 bits */
#define FIRST_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
FIRST_SIZE(first_info, 192);
FIRST_SIZE(first_cpus, 24);
FIRST_SIZE(first_open, 64);
FIRST_SIZE(first_ctr_control, 64);
FIRST_SIZE(first_control, 4224);
FIRST_SIZE(first_soft, 40);
FIRST_SIZE(first_read, 584);
FIRST_SIZE(first_read_tree, 624);
FIRST_SIZE(first_member, 608);
FIRST_SIZE(first_page_slot, 16);
FIRST_SIZE(first_page, 1600);

#endif /* ABI_FIRST_H */
