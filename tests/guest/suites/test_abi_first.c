// SPDX-License-Identifier: GPL-2.0
/* Programs that were built with the first version of the ABI: they run as they did. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/abi_first.h"
#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/abi.h"

/* It had another name, which is the library's now. */
#define perfctr_info	perfctr_kernel_info

#define SAME_MEMBER(type, member)						\
	_Static_assert(offsetof(struct first_ ## type, member) ==		\
		       offsetof(struct perfctr_ ## type, member) &&		\
		       sizeof(((struct first_ ## type *)0)->member) ==		\
		       sizeof(((struct perfctr_ ## type *)0)->member),		\
		       #type "." #member)
#define SAME(first, now) _Static_assert((first) == (now), #now)

/* What may never change in the header. Sizes of structures may grow, so they are not here. */
SAME_MEMBER(info, abi_version);
SAME_MEMBER(info, driver_version);
SAME_MEMBER(info, cpu_type);
SAME_MEMBER(info, cpu_features);
SAME_MEMBER(info, cpu_khz);
SAME_MEMBER(info, tsc_to_cpu_mult);
SAME_MEMBER(info, tsc_hz);
SAME_MEMBER(info, nrctrs);
SAME_MEMBER(info, no_counters);
SAME_MEMBER(info, user_read);
SAME_MEMBER(info, width);
SAME_MEMBER(info, counters);
SAME_MEMBER(info, events);
SAME_MEMBER(cpus, which);
SAME_MEMBER(cpus, nrwords);
SAME_MEMBER(cpus, mask);
SAME_MEMBER(open, flags);
SAME_MEMBER(open, pidfd);
SAME_MEMBER(ctr_control, map);
SAME_MEMBER(ctr_control, flags);
SAME_MEMBER(ctr_control, event);
SAME_MEMBER(ctr_control, config);
SAME_MEMBER(ctr_control, ireset);
SAME_MEMBER(control, flags);
SAME_MEMBER(control, ctr_offset);
SAME_MEMBER(control, ctr_size);
SAME_MEMBER(control, tsc_on);
SAME_MEMBER(control, nractrs);
SAME_MEMBER(control, nrictrs);
SAME_MEMBER(control, si_signo);
SAME_MEMBER(control, preserve);
SAME_MEMBER(control, refresh);
SAME_MEMBER(control, refused);
SAME_MEMBER(control, owner);
SAME_MEMBER(soft, switches);
SAME_MEMBER(soft, migrations);
SAME_MEMBER(soft, minor_faults);
SAME_MEMBER(soft, major_faults);
SAME_MEMBER(soft, task_clock);
SAME_MEMBER(read, cstatus);
SAME_MEMBER(read, error);
SAME_MEMBER(read, nrctrs);
SAME_MEMBER(read, flags);
SAME_MEMBER(read, overflows);
SAME_MEMBER(read, clock);
SAME_MEMBER(read, sum);
SAME_MEMBER(read, soft);
SAME_MEMBER(read_tree, which);
SAME_MEMBER(read_tree, cstatus);
SAME_MEMBER(read_tree, error);
SAME_MEMBER(read_tree, nrctrs);
SAME_MEMBER(read_tree, tree_id);
SAME_MEMBER(read_tree, live);
SAME_MEMBER(read_tree, ended);
SAME_MEMBER(read_tree, missed);
SAME_MEMBER(read_tree, not_kept);
SAME_MEMBER(read_tree, clock);
SAME_MEMBER(read_tree, sum);
SAME_MEMBER(read_tree, soft);
SAME_MEMBER(member, flags);
SAME_MEMBER(member, cursor);
SAME_MEMBER(member, tid);
SAME_MEMBER(member, tgid);
SAME_MEMBER(member, comm);
SAME_MEMBER(member, error);
SAME_MEMBER(member, nrctrs);
SAME_MEMBER(member, clock);
SAME_MEMBER(member, sum);
SAME_MEMBER(member, soft);
SAME_MEMBER(page_slot, owner);
SAME_MEMBER(page_slot, bias);
SAME_MEMBER(page, seq);
SAME_MEMBER(page, cstatus);
SAME_MEMBER(page, error);
SAME_MEMBER(page, nrctrs);
SAME_MEMBER(page, owner);
SAME_MEMBER(page, map);
SAME_MEMBER(page, slot);
SAME_MEMBER(page, operand);
SAME(FIRST_INFO, PERFCTR_IOC_INFO);
SAME(FIRST_CPUS, PERFCTR_IOC_CPUS);
SAME(FIRST_OPEN, PERFCTR_IOC_OPEN);
SAME(FIRST_CONTROL, PERFCTR_IOC_CONTROL);
SAME(FIRST_READ, PERFCTR_IOC_READ);
SAME(FIRST_READ_CONTROL, PERFCTR_IOC_READ_CONTROL);
SAME(FIRST_UNLINK, PERFCTR_IOC_UNLINK);
SAME(FIRST_IRESUME, PERFCTR_IOC_IRESUME);
SAME(FIRST_READ_TREE, PERFCTR_IOC_READ_TREE);
SAME(FIRST_NEXT_MEMBER, PERFCTR_IOC_NEXT_MEMBER);
SAME(FIRST_SUSPEND, PERFCTR_IOC_SUSPEND);
SAME(FIRST_RESUME, PERFCTR_IOC_RESUME);
SAME(FIRST_REFRESH, PERFCTR_IOC_REFRESH);
SAME(sizeof(struct first_info), PERFCTR_INFO_SIZE_VER0);
SAME(sizeof(struct first_cpus), PERFCTR_CPUS_SIZE_VER0);
SAME(sizeof(struct first_open), PERFCTR_OPEN_SIZE_VER0);
SAME(offsetof(struct first_control, ctr), PERFCTR_CONTROL_SIZE_VER0);
SAME(sizeof(struct first_ctr_control), PERFCTR_CTR_CONTROL_SIZE_VER0);
SAME(offsetof(struct first_read, sum), PERFCTR_READ_SIZE_VER0);
SAME(offsetof(struct first_read_tree, sum), PERFCTR_READ_TREE_SIZE_VER0);
SAME(offsetof(struct first_member, sum), PERFCTR_MEMBER_SIZE_VER0);
SAME(FIRST_ABI_VERSION, PERFCTR_ABI_VERSION);
SAME(FIRST_MAX_CTRS, PERFCTR_MAX_CTRS);
SAME(FIRST_MAX_SIZE, PERFCTR_MAX_SIZE);
SAME(FIRST_NO_INDEX, PERFCTR_NO_INDEX);
SAME(FIRST_MAP_ANY, PERFCTR_MAP_ANY);
SAME(FIRST_CTR_USER, PERFCTR_CTR_USER);
SAME(FIRST_CTR_KERNEL, PERFCTR_CTR_KERNEL);
SAME(FIRST_OPEN_CREAT, PERFCTR_OPEN_CREAT);
SAME(FIRST_OPEN_EXCL, PERFCTR_OPEN_EXCL);
SAME(FIRST_OPEN_PIDFD, PERFCTR_OPEN_PIDFD);
SAME(FIRST_CLOEXEC, PERFCTR_CONTROL_CLOEXEC);
SAME(FIRST_ON_EXEC, PERFCTR_CONTROL_ON_EXEC);
SAME(FIRST_INHERIT, PERFCTR_CONTROL_INHERIT);
SAME(FIRST_KEEP, PERFCTR_CONTROL_KEEP);
SAME(FIRST_RAW, PERFCTR_CONTROL_RAW);
SAME(FIRST_SUSPENDED, PERFCTR_CONTROL_SUSPENDED);
SAME(FIRST_HOLDER_ONLY, PERFCTR_CONTROL_HOLDER_ONLY);
SAME(FIRST_CSTATUS_CLOCK, PERFCTR_CSTATUS_CLOCK);
SAME(FIRST_READ_ATTACHED, PERFCTR_READ_ATTACHED);
SAME(FIRST_READ_ON_EXEC, PERFCTR_READ_ON_EXEC);
SAME(FIRST_READ_OVERFLOWN, PERFCTR_READ_OVERFLOWN);
SAME(FIRST_READ_THROTTLED, PERFCTR_READ_THROTTLED);
SAME(FIRST_READ_SUSPENDED, PERFCTR_READ_SUSPENDED);
SAME(FIRST_TREE_ROOT, PERFCTR_TREE_ROOT);
SAME(FIRST_TREE_ENDED, PERFCTR_TREE_ENDED);
SAME(FIRST_TREE_LIVE, PERFCTR_TREE_LIVE);
SAME(FIRST_MEMBER_LIVE, PERFCTR_MEMBER_LIVE);
SAME(FIRST_OWNER_NONE, PERFCTR_OWNER_NONE);
SAME(FIRST_OWNER_HOLDER, PERFCTR_OWNER_HOLDER);
SAME(FIRST_PAGE_NO_SLOT, PERFCTR_PAGE_NO_SLOT);

static int first_open_self(void)
{
	struct first_open arg = { .size = sizeof(arg), .flags = FIRST_OPEN_CREAT };
	int fd = open_device();

	ck_ok(ioctl(fd, FIRST_OPEN, &arg));
	return fd;
}

/* A control of the clock, and of one counter if there are any */
static struct first_control first_control(uint32_t flags)
{
	struct first_control control = {
		.size = sizeof(control),
		.flags = flags,
		.ctr_offset = offsetof(struct first_control, ctr),
		.ctr_size = sizeof(control.ctr[0]),
		.tsc_on = 1,
		.nractrs = has_counters(),
		.refused = 1,
		.owner = 1,
		.ctr[0] = {
			.map = FIRST_MAP_ANY,
			.flags = FIRST_CTR_USER,
			.event = own_event(EV_INSTRUCTIONS),
			.config = own_config(EV_INSTRUCTIONS),
		},
	};

	return control;
}

static void first_expect(const struct first_control *control, uint32_t cstatus, uint32_t nrctrs)
{
	ck_assert_uint_eq(cstatus, FIRST_CSTATUS_CLOCK | control->nractrs);
	ck_assert_uint_eq(nrctrs, control->nractrs);
}

static void first_read(int fd, struct first_read *rd)
{
	memset(rd, 0xaa, sizeof(*rd));
	rd->size = sizeof(*rd);
	ck_ok(ioctl(fd, FIRST_READ, rd));
	ck_assert_uint_eq(rd->size, sizeof(*rd));
	ck_assert_uint_eq(rd->error, 0);
	ck_assert_uint_eq(rd->overflows, 0);
}

/* This must pass for ever. It uses nothing from today's header. */
START_TEST(first_programs_run)
{
	struct first_control control = first_control(0), back, other;
	struct first_info info = { .size = sizeof(info) };
	uint32_t words[64];
	struct first_cpus cpus = {
		.size = sizeof(cpus), .nrwords = 64, .mask = (uintptr_t)words,
	};
	const struct first_page *page;
	int fd, second, i;
	struct first_read rd[3];
	uint64_t plain[2];

	fd = open_device();
	ck_ok(ioctl(fd, FIRST_INFO, &info));
	ck_assert_uint_eq(info.size, sizeof(info));
	ck_assert_uint_eq(info.abi_version >> 24, FIRST_ABI_VERSION >> 24);
	ck_assert_uint_gt(info.tsc_hz, 0);
	ck_assert_uint_ge(info.nrctrs, control.nractrs);
	ck_ok(ioctl(fd, FIRST_CPUS, &cpus));
	ck_assert_uint_gt(cpus.nrwords, 0);
	ck_assert_uint_eq(words[0] & 1, 1);
	close(fd);

	fd = first_open_self();
	second = first_open_self();
	ck_ok(ioctl(fd, FIRST_CONTROL, &control));
	ck_assert_uint_eq(control.refused, FIRST_NO_INDEX);
	ck_assert_uint_eq(control.owner, FIRST_OWNER_NONE);
	other = control;
	ck_errno(ioctl(second, FIRST_CONTROL, &other), EBUSY);
	ck_assert_uint_eq(other.refused, FIRST_NO_INDEX);
	ck_assert_uint_eq(other.owner, FIRST_OWNER_HOLDER);

	first_read(fd, &rd[0]);
	body_spin(100000);
	first_read(second, &rd[1]);
	first_expect(&control, rd[1].cstatus, rd[1].nrctrs);
	ck_assert_uint_eq(rd[1].flags, FIRST_READ_ATTACHED);
	ck_assert_uint_gt(rd[1].clock, rd[0].clock);
	for (i = (int)control.nractrs; i < FIRST_MAX_CTRS; i++)
		ck_assert_uint_eq(rd[1].sum[i], 0);
	ck_assert_uint_gt(rd[1].soft.task_clock, rd[0].soft.task_clock);
	ck_assert_int_eq(read(fd, plain, sizeof(plain)), (ssize_t)(8 + 8 * control.nractrs));
	ck_assert_uint_gt(plain[0], rd[1].clock);
	if (control.nractrs) {
		ck_assert_uint_ge(rd[1].sum[0] - rd[0].sum[0], BODY_SPIN(100000));
		ck_assert_uint_gt(plain[1], rd[1].sum[0]);
	}

	back = first_control(0);
	memset(&back.tsc_on, 0xaa, sizeof(back) - offsetof(struct first_control, tsc_on));
	ck_ok(ioctl(second, FIRST_READ_CONTROL, &back));
	control.ctr[0].map = back.ctr[0].map;
	ck_assert_mem_eq(&back, &control, offsetof(struct first_control, ctr[control.nractrs]));

	page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_assert_uint_ge(page->size, sizeof(*page));
	first_expect(&control, page->cstatus, page->nrctrs);
	ck_assert_uint_eq(page->error, 0);
	ck_assert(page->owner == 0 || page->owner == thread_pointer());
	for (i = 0; i < FIRST_MAX_CTRS; i++)
		ck_assert((page->map[i] == 16 * FIRST_PAGE_NO_SLOT) == (i >= (int)page->nrctrs));
	ck_assert_uint_eq(page->slot[FIRST_PAGE_NO_SLOT].owner, 0);

	ck_ok(ioctl(fd, FIRST_SUSPEND));
	first_read(fd, &rd[1]);
	ck_assert_uint_eq(rd[1].flags, FIRST_READ_ATTACHED | FIRST_READ_SUSPENDED);
	body_spin(1000);
	first_read(fd, &rd[2]);
	ck_assert_mem_eq(&rd[1], &rd[2], offsetof(struct first_read, soft));
	ck_ok(ioctl(fd, FIRST_RESUME));
	ck_errno(ioctl(fd, FIRST_IRESUME), EINVAL);
	ck_errno(ioctl(fd, FIRST_REFRESH, 1), EINVAL);
	ck_ok(ioctl(fd, FIRST_UNLINK));
	first_read(fd, &rd[2]);
	ck_assert_uint_eq(rd[2].flags, 0);
}
END_TEST

START_TEST(first_programs_have_trees)
{
	struct first_control control = first_control(FIRST_INHERIT | FIRST_KEEP);
	struct first_read_tree tree = {
		.size = sizeof(tree), .which = FIRST_TREE_ENDED | FIRST_TREE_LIVE,
	};
	struct first_member member = { .size = sizeof(member) };
	int fd = first_open_self(), status;
	pid_t child;

	ck_ok(ioctl(fd, FIRST_CONTROL, &control));
	ck_ok(child = fork());
	if (!child) {
		body_spin(100000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_ok(ioctl(fd, FIRST_READ_TREE, &tree));
	first_expect(&control, tree.cstatus, tree.nrctrs);
	ck_assert_uint_eq(tree.error, 0);
	ck_assert_uint_ne(tree.tree_id, 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.live | tree.missed | tree.not_kept, 0);
	ck_ok(ioctl(fd, FIRST_NEXT_MEMBER, &member));
	ck_assert_uint_eq(member.flags, 0);
	ck_assert_uint_ne(member.cursor, 0);
	ck_assert_int_eq(member.tid, child);
	ck_assert_int_eq(member.tgid, child);
	ck_assert_uint_gt(strnlen(member.comm, sizeof(member.comm)), 0);
	ck_assert_uint_eq(member.error, 0);
	ck_assert_uint_eq(member.clock, tree.clock);
	ck_assert_mem_eq(member.sum, tree.sum, sizeof(tree.sum));
	ck_assert_mem_eq(&member.soft, &tree.soft, sizeof(tree.soft));
	if (control.nractrs)
		ck_assert_uint_ge(tree.sum[0], BODY_SPIN(100000));
	ck_errno(ioctl(fd, FIRST_NEXT_MEMBER, &member), ENOENT);
}
END_TEST

void abi_first(void)
{
	GUEST_RUN(first_programs_run, LOG_SILENT | AS_USER);
	GUEST_RUN(first_programs_have_trees, LOG_SILENT | AS_USER);
}
