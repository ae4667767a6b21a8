// SPDX-License-Identifier: GPL-2.0
/*
 * Each call, while each of its allocations and of its copies from and to a user fails once. It says
 * ENOMEM or EFAULT, and leaves all as it was: what was counted goes on, exactly, and engine_end()
 * finds whatever was not given back.
 */
#include "engine/world.h"
#include "unit.h"
#include "calls/handle.h"

/* @file: no handle yet, or a session; @member: of the thread's tree, or no state's */
static struct thread *thread, *member;
static struct handle file;

/* 12 sees switches by the tracepoint, 48 by notifiers. */
static void begin(int row)
{
	seed = row % 2 ? 12 : 48;
	nobody_calls = true;
	engine_begin();
	thread = begin_thread(0);
	member = begin_thread(0);
	file.refs = 1;
	run_on(0, thread);
}

static void with_counters(void)
{
	set_control(thread, &controls[1], NULL, true, 0, 0);
}

static void with_ring(void)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 1 };

	with_counters();
	ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_RING, &ring), 0);
	reader_begins(state_of(thread)->ring);
}

static void with_tree(void)
{
	set_control(thread, &controls[1], tree_new(), true, 0, 0);
}

static void with_member(void)
{
	with_tree();
	member = make_child(thread, 4);
	run_on(1, member);
	to_cpu(0);
}

static long open_cpus(void)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CPUS };

	return engine_ioctl(&file, PERFCTR_IOC_OPEN, &open);
}

static void with_session(void)
{
	ck_assert_int_eq(open_cpus(), 0);
}

static long control_cpu(void)
{
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1, .nractrs = 2, .source = SHARED, .cpu = 1,
		.flags = PERFCTR_CONTROL_CPU | PERFCTR_CONTROL_NO_IDLE,
	};

	memcpy(arg.ctr, shared_controls[1].ctr, sizeof(shared_controls[1].ctr));
	return engine_ioctl(&file, PERFCTR_IOC_CONTROL, &arg);
}

static void with_cpu(void)
{
	with_session();
	ck_assert_int_eq(control_cpu(), 0);
	ck_assert_int_eq(engine_ioctl(&file, PERFCTR_IOC_RESUME, NULL), 0);
}

static long open_own(void)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREAT };

	return engine_ioctl(&file, PERFCTR_IOC_OPEN, &open);
}

/* All that a control can have */
static long control(void)
{
	const struct control *other = &controls[6];
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.nractrs = other->nractrs, .nrictrs = other->nrictrs, .source = NATIVE,
		.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_RECORD,
	};

	memcpy(arg.ctr, other->ctr, sizeof(other->ctr));
	return engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg);
}

static long make_ring(void)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 2 };

	return engine_ioctl(thread->handle, PERFCTR_IOC_RING, &ring);
}

static long map_page(void)
{
	struct vm_area_struct vma = {
		.vm_end = PAGE_SIZE, .vm_flags = VM_MAYSHARE, .vm_mm = &thread->process->memory->mm,
	};
	int err = vperfctr_fops.mmap(&thread->handle->file, &vma);

	if (!err)
		vma.vm_ops->close(&vma);
	return err;
}

static long add(void)
{
	struct perfctr_add_member arg = { .size = sizeof(arg), .tid = member->task.pid->nr };
	long err;

	trace(member);
	err = engine_ioctl(thread->handle, PERFCTR_IOC_ADD_MEMBER, &arg);
	untrace(member);
	return err;
}

static long read_thread(void)
{
	struct perfctr_read read = { .size = sizeof(read) };

	return engine_ioctl(thread->handle, PERFCTR_IOC_READ, &read);
}

/* From here on a structure of which the module knows the beginning alone */
static long read_long(void)
{
	struct {
		struct perfctr_read read;
		u64 more[2];
	} arg = { .read.size = sizeof(arg) };

	return engine_ioctl(thread->handle, PERFCTR_IOC_READ, &arg);
}

static long read_tree(void)
{
	struct perfctr_read_tree read = {
		.size = sizeof(read),
		.which = PERFCTR_TREE_ROOT | PERFCTR_TREE_LIVE | PERFCTR_TREE_ENDED,
	};

	return engine_ioctl(thread->handle, PERFCTR_IOC_READ_TREE, &read);
}

static long next_member(void)
{
	struct perfctr_member arg = { .size = sizeof(arg) };

	return engine_ioctl(thread->handle, PERFCTR_IOC_NEXT_MEMBER, &arg);
}

static long read_control(void)
{
	struct perfctr_control arg = { PERFCTR_CONTROL_INIT, .nractrs = 2 };

	return engine_ioctl(thread->handle, PERFCTR_IOC_READ_CONTROL, &arg);
}

static long read_cpu(void)
{
	struct perfctr_read_cpu read = { .size = sizeof(read), .cpu = 1 };

	return engine_ioctl(&file, PERFCTR_IOC_READ_CPU, &read);
}

static long info(void)
{
	struct perfctr_kernel_info arg = { .size = sizeof(arg) };

	return engine_ioctl(&file, PERFCTR_IOC_INFO, &arg);
}

static long cpus(void)
{
	u32 mask = 0;
	struct perfctr_cpus arg = { .size = sizeof(arg), .nrwords = 1, .mask = (uintptr_t)&mask };

	return engine_ioctl(&file, PERFCTR_IOC_CPUS, &arg);
}

static const struct {
	const char *name;
	void (*begin)(void);
	long (*call)(void);
} calls[] = {
	{ "OPEN", NULL, open_own },
	{ "OPEN of CPUs", NULL, open_cpus },
	{ "CONTROL", with_ring, control },
	{ "CONTROL of a CPU", with_session, control_cpu },
	{ "RING", with_counters, make_ring },
	{ "mmap", with_counters, map_page },
	{ "ADD_MEMBER", with_tree, add },
	{ "READ", with_counters, read_thread },
	{ "READ of more", with_counters, read_long },
	{ "READ_TREE", with_member, read_tree },
	{ "NEXT_MEMBER", with_member, next_member },
	{ "READ_CONTROL", with_counters, read_control },
	{ "READ_CPU", with_cpu, read_cpu },
	{ "INFO", NULL, info },
	{ "CPUS", NULL, cpus },
};

static void expect_unchanged(void)
{
	if (!thread->control) {
		ck_assert(!state_of(thread));
		return;
	}
	let_run(thread, MODEL_USER, 500);
	expect_sums(thread);
	ck_assert(member->control || !state_of(member));
}

START_TEST(each_call_fails)
{
	const char *name = calls[_i / 2].name;
	const void *before;
	unsigned int n;
	bool came;
	long err;

	begin(_i);
	if (calls[_i / 2].begin)
		calls[_i / 2].begin();
	before = file.file.private_data;
	for (n = 1;; n++) {
		/* What a failed call has left to be found again, for a while, goes. */
		shim_work(true);
		shim_fail_nth = n;
		err = calls[_i / 2].call();
		came = !shim_fail_nth;
		shim_fail_nth = 0;
		if (!came)
			break;
		ck_assert_msg(err == -ENOMEM || err == -EFAULT, "%s: %ld at point %u", name, err, n);
		ck_assert_msg(file.file.private_data == before, "%s: a handle at point %u", name, n);
		expect_unchanged();
	}
	ck_assert_msg(!err && n > 1, "%s: %ld without a failure, after %u points", name, err, n);
	/* What counts now the model does not know. */
	thread->control = NULL;
	member->invited = false;
	if (file.file.private_data)
		vperfctr_fops.release(NULL, &file.file);
	engine_end();
}
END_TEST

/* The words that cannot be stored one by one are copied; what cannot be copied is no result. */
START_TEST(read_at_bad_addresses)
{
	const struct control *own = _i / 2 ? &controls[1] : &shared_controls[1];
	u64 words[4], before[4];
	unsigned int n, failed = 0;
	bool came = true;
	ssize_t length;

	begin(_i);
	set_control(thread, own, NULL, true, 0, 0);
	for (n = 1; came; n++) {
		let_run(thread, MODEL_USER, 500);
		memset(words, (int)n, sizeof(words));
		memcpy(before, words, sizeof(words));
		shim_fail_nth = n;
		length = vperfctr_fops.read(&thread->handle->file, (char *)words, 24, NULL);
		came = !shim_fail_nth;
		shim_fail_nth = 0;
		ck_assert_uint_eq(words[3], before[3]);
		if (length == -EFAULT) {
			failed++;
			continue;
		}
		ck_assert_int_eq(length, 24);
		ck_assert_uint_eq(words[1], count_of(own, &thread->seen, 0));
		ck_assert_uint_eq(words[2], count_of(own, &thread->seen, 1));
	}
	/* Three words, and then a success without any failure */
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(failed, _i / 2 ? 0 : 3);
	/* There must be room for all of them: of a thread that runs, or sleeps. */
	memcpy(before, words, sizeof(words));
	ck_assert_int_eq(vperfctr_fops.read(&thread->handle->file, (char *)words, 23, NULL), -EINVAL);
	switch_to(&idle[0]);
	ck_assert_int_eq(vperfctr_fops.read(&thread->handle->file, (char *)words, 23, NULL), -EINVAL);
	ck_assert_int_eq(memcmp(words, before, sizeof(words)), 0);
	engine_end();
}
END_TEST

/*
 * A child takes its parent's spare state, and no memory is left for the next one, or none for a
 * part of it: the parent makes one as it returns to user mode. If it has another child before, that
 * is missed, and the tree says so.
 */
START_TEST(children_without_memory)
{
	const struct control *own = &controls[_i / 2 % 2 ? 6 : 1];
	u32 flags = _i / 4 % 2 ? PERFCTR_CONTROL_RECORD : 0;
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_LIVE };
	struct thread *child[4];
	unsigned int i;
	u64 sum = 0;

	begin(_i);
	set_control(thread, own, tree_new(), true, 0, flags);
	return_to_user();
	/* 0: all that it asks for; else the n-th part */
	shim_fail_nth = (unsigned int)_i / 8;
	shim_no_memory = !shim_fail_nth;
	child[0] = make_child(thread, 4);
	shim_fail_nth = 0;
	shim_no_memory = false;
	ck_assert(state_of(child[0]));
	return_to_user();
	ck_assert(state_of(thread)->spare);
	shim_no_memory = true;
	child[1] = make_child(thread, 4);
	child[2] = make_child(thread, 4);
	shim_no_memory = false;
	ck_assert(state_of(child[1]) && !state_of(child[2]));
	return_to_user();
	child[3] = make_child(thread, 4);
	for (i = 0; i < 4; i++) {
		to_cpu(1);
		switch_to(child[i]);
		return_to_user();
		let_run(child[i], MODEL_USER, 200 + i);
		if (i != 2)
			sum += count_of(own, &child[i]->seen, 0);
	}
	to_cpu(0);
	ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_READ_TREE, &read), -EIO);
	ck_assert_uint_eq(read.error, PERFCTR_ERROR_MEMORY);
	ck_assert_uint_eq(read.missed, 1);
	ck_assert_uint_eq(read.live, 3);
	ck_assert_uint_eq(read.sum[0], sum);
	engine_end();
}
END_TEST

/* While one thread makes a file a session another does the same: the second one fails. */
static void open_first(void)
{
	shim_at_point = NULL;
	ck_assert_int_eq(open_cpus(), 0);
}

START_TEST(two_open_one_file)
{
	const void *session;

	begin(_i);
	shim_at_point = open_first;
	ck_assert_int_eq(open_cpus(), -ENOTTY);
	ck_assert_ptr_null(shim_at_point);
	session = file.file.private_data;
	ck_assert_ptr_nonnull(session);
	ck_assert_int_eq(open_cpus(), -ENOTTY);
	ck_assert_ptr_eq(file.file.private_data, session);
	vperfctr_fops.release(NULL, &file.file);
	engine_end();
}
END_TEST

/* A session is for who may look at others, as each of its controls is. */
START_TEST(sessions_need_privilege)
{
	begin(_i);
	shim_perfmon_capable = false;
	ck_assert_int_eq(open_cpus(), -EACCES);
	ck_assert_ptr_null(file.file.private_data);
	shim_perfmon_capable = true;
	ck_assert_int_eq(open_cpus(), 0);
	shim_perfmon_capable = false;
	ck_assert_int_eq(control_cpu(), -EACCES);
	shim_perfmon_capable = true;
	vperfctr_fops.release(NULL, &file.file);
	engine_end();
}
END_TEST

void test_faults(void)
{
	unit_run(each_call_fails, 2 * ARRAY_SIZE(calls));
	/* Only x86's models know of counters that the owner reads with interrupts on. */
	unit_run(read_at_bad_addresses, IS_ENABLED(CONFIG_X86) ? 4 : 2);
	unit_run(children_without_memory, 32);
	unit_run(two_open_one_file, 2);
	unit_run(sessions_need_privilege, 2);
}
