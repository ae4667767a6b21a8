// SPDX-License-Identifier: GPL-2.0
/* What readers of a ring with MAPS learn, in a certain order */
#include "engine/world.h"
#include "unit.h"
#include "thread/ring.h"

static struct thread *root, *child;

/* A root that has samples by time, and a child that shares its memory, or has a copy */
static void begin(unsigned int how, unsigned int row)
{
	seed = row ? 12 : 48;
	engine_begin();
	nobody_calls = true;
	rings_tell_maps = true;
	root = begin_thread(0);
	run_on(0, root);
	set_control(root, &controls[1], tree_new(), true, 0, PERFCTR_CONTROL_RECORD);
	run_on(0, root);
	child = make_child(root, how);
	run_on(1, child);
	to_cpu(0);
}

/* It executes in that page until it has a sample. expect_place() looks at that. */
static void sample_in(struct thread *thread, unsigned int page)
{
	unsigned int before = nr.samples;

	to_cpu(thread->task.cpu);
	instruction_pointer(task_pt_regs(&thread->task)) = page_address(page);
	while (nr.samples == before) {
		let_run(thread, MODEL_USER, 1000);
		fire_timer(false);
	}
}

/* Does its reader know what is there? */
static void expect_next_sample(struct thread *thread, unsigned int page, bool unknown)
{
	struct counted before = nr;

	sample_in(thread, page);
	ck_assert_uint_eq(nr.unknown - before.unknown, unknown);
	ck_assert_uint_eq(nr.placed - before.placed, !unknown);
}

static u64 lost(const struct thread *thread)
{
	return state_of(thread)->recorder->ring->page->lost;
}

/*
 * The child of a fork maps code, and there is no memory to tell that. So its samples do not claim
 * that its reader knows all, until it has looked once more.
 */
START_TEST(no_memory_for_the_first_look)
{
	begin(0, (unsigned int)_i);
	to_cpu(1);
	expect_next_sample(child, 0, false);
	return_to_user();
	map_code(child, 5, 3);
	reader_may_lose(child);
	return_to_user();
	ck_assert_uint_eq(lost(child), 1);
	expect_next_sample(child, 5, true);
	return_to_user();
	expect_next_sample(child, 5, false);
	ck_assert_uint_eq(lost(child), 1);
	engine_end();
}
END_TEST

/*
 * Another thread maps code all the time. One that did not spends at most a tenth of its time on
 * looks; its samples have MAP_UNKNOWN meanwhile.
 */
START_TEST(others_map_all_the_time)
{
	u64 begins, took;

	begin(4, (unsigned int)_i);
	to_cpu(1);
	return_to_user();
	map_code(child, 5, 3);
	return_to_user();
	to_cpu(0);
	expect_next_sample(root, 5, true);
	begins = shim_now;
	return_to_user();
	took = shim_now - begins;
	/* Where many files are mapped a look takes long. */
	state_of(root)->recorder->look_after += 100000;
	to_cpu(1);
	map_code(child, 5, 4);
	return_to_user();
	expect_next_sample(root, 5, true);
	return_to_user();
	expect_next_sample(root, 5, true);
	ck_assert_uint_gt(took, 0);
	return_to_user();
	shim_now += 200000;
	expect_next_sample(root, 5, true);
	return_to_user();
	expect_next_sample(root, 5, false);
	engine_end();
}
END_TEST

/*
 * A process whose memory is not watched makes a thread, and there is no memory to watch it. So its
 * samples do not claim that their reader knows what that thread maps.
 */
START_TEST(no_memory_to_watch_a_thread)
{
	struct thread *second;

	begin(0, (unsigned int)_i);
	to_cpu(1);
	return_to_user();
	second = make_child(child, 5);
	reader_may_lose(child);
	return_to_user();
	ck_assert_uint_eq(lost(child), 1);
	run_on(2, second);
	map_code(second, 5, 3);
	to_cpu(1);
	expect_next_sample(child, 5, true);
	return_to_user();
	expect_next_sample(child, 5, false);
	engine_end();
}
END_TEST

/* Another thread of the parent's has mapped code, and did not tell it yet. So has the copy. */
START_TEST(forked_before_it_is_told)
{
	struct thread *second;

	begin(5, (unsigned int)_i);
	return_to_user();
	to_cpu(1);
	return_to_user();
	map_code(child, 5, 3);
	to_cpu(0);
	second = make_child(root, 0);
	run_on(2, second);
	expect_next_sample(second, 5, true);
	return_to_user();
	expect_next_sample(second, 5, false);
	engine_end();
}
END_TEST

static bool ends_at_once;

/* Instead of what was there when the parent's memory was copied */
static void map_and_tell(void)
{
	to_cpu(1);
	map_code(child, 5, 4);
	return_to_user();
	if (ends_at_once)
		do_exit(child);
	to_cpu(0);
}

/*
 * It maps code as the memory was copied, and tells that before the FORK. The copy has what was
 * there before.
 */
START_TEST(told_while_forking)
{
	struct thread *second;

	ends_at_once = _i & 2;
	begin(5, _i & 1);
	map_code(root, 5, 3);
	return_to_user();
	to_cpu(1);
	return_to_user();
	to_cpu(0);
	meanwhile_in_fork = map_and_tell;
	second = make_child(root, 0);
	meanwhile_in_fork = NULL;
	run_on(2, second);
	expect_next_sample(second, 5, true);
	return_to_user();
	expect_next_sample(second, 5, false);
	engine_end();
}
END_TEST

static unsigned int accesses_left;

/* Another CPU, while the parent is between two accesses and no record is being written */
static void map_and_tell_at_access(void)
{
	bool irqs_off = shim_irqs_off;

	if (accesses_left) {
		accesses_left--;
		return;
	}
	if (state_of(root)->recorder->ring->lock.held)
		return;
	shim_at_access = NULL;
	shim_irqs_off = false;
	map_and_tell();
	shim_irqs_off = irqs_off;
}

static void watch_accesses(void)
{
	shim_at_access = map_and_tell_at_access;
}

#define MOST_ACCESSES	104

/* The same at each access of the fork: the child's samples are of the code that it has. */
START_TEST(told_at_any_time_of_a_fork)
{
	struct thread *second;

	ends_at_once = false;
	begin(5, _i & 1);
	map_code(root, 5, 3);
	return_to_user();
	to_cpu(1);
	return_to_user();
	to_cpu(0);
	accesses_left = (unsigned int)_i;
	meanwhile_in_fork = watch_accesses;
	second = make_child(root, 0);
	meanwhile_in_fork = NULL;
	run_on(2, second);
	sample_in(second, 5);
	/* There are not more accesses than rows. */
	ck_assert(_i < MOST_ACCESSES - 2 || accesses_left);
	engine_end();
}
END_TEST

/* There is another thread, but who forks was the last to tell: its child knows what it has. */
START_TEST(forked_when_all_is_told)
{
	struct thread *second;

	begin(5, (unsigned int)_i);
	to_cpu(1);
	map_code(child, 5, 3);
	return_to_user();
	to_cpu(0);
	map_code(root, 6, 4);
	return_to_user();
	second = make_child(root, 0);
	run_on(2, second);
	expect_next_sample(second, 5, false);
	expect_next_sample(second, 6, false);
	engine_end();
}
END_TEST

/* Where the kernel does not tell of mappings there is no such ring. */
START_TEST(the_kernel_tells_nothing)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .flags = PERFCTR_RING_MAPS, .pages = 1 };

	seed = 48;
	engine_begin();
	no_map_probes = true;
	root = begin_thread(0);
	run_on(0, root);
	set_control(root, &controls[1], NULL, true, 0, 0);
	ck_assert_int_eq(engine_ioctl(root->handle, PERFCTR_IOC_RING, &ring), -EOPNOTSUPP);
	ring.flags = 0;
	ck_assert_int_eq(engine_ioctl(root->handle, PERFCTR_IOC_RING, &ring), 0);
	engine_end();
}
END_TEST

void test_mapped(void)
{
	UNIT_RUN(the_kernel_tells_nothing);
	unit_run(no_memory_for_the_first_look, 2);
	unit_run(others_map_all_the_time, 2);
	unit_run(no_memory_to_watch_a_thread, 2);
	unit_run(forked_before_it_is_told, 2);
	unit_run(told_while_forking, 4);
	unit_run(told_at_any_time_of_a_fork, MOST_ACCESSES);
	unit_run(forked_when_all_is_told, 2);
}
