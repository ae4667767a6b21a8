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

/* It executes in that page until it has a sample: its reader knows what is there, or not. */
static void expect_next_sample(struct thread *thread, unsigned int page, bool unknown)
{
	struct counted before;

	to_cpu(thread->task.cpu);
	instruction_pointer(task_pt_regs(&thread->task)) = page_address(page);
	before = nr;
	while (nr.samples == before.samples) {
		let_run(thread, MODEL_USER, 1000);
		fire_timer(false);
	}
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
}
