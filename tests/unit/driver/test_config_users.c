// SPDX-License-Identifier: GPL-2.0
/* config.c: what each user may have, and how often it may interrupt CPUs */
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>

#include "threads.h"
#include "unit.h"
#include "base/account.h"
#include "base/hook.h"
#include "switch/resume.h"
#include "config/config.h"
#include "test_config.h"

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};

static struct perfctr_refusal refusal;

/* In the order of a control: period i of an event */
static struct perfctr_config *get_numbered(u32 i)
{
	struct perfctr_ctr_control ctr = CTR(ANY, EV_INSTRUCTIONS, USER);

	ctr.ireset = -1000 - (s64)i;
	return get(&ctr, 1);
}

/* Equal controls of two users are two configs, so that one can be lost without the other. */
START_TEST(each_user_has_its_own)
{
	struct perfctr_config *a, *b;

	begin(&model_default);
	a = get(two, 2);
	shim_uid = 1000;
	b = get(two, 2);
	ck_assert_ptr_ne(a, b);
	/* But a switch between them writes nothing. */
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_ptr_eq(get(two, 2), b);
	shim_uid = 0;
	ck_assert_ptr_eq(get(two, 2), a);
	perfctr_config_put(a, false);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	perfctr_config_put(b, false);
	end();
}
END_TEST

#define MANY 5000

/* Each config is found again, and each ends. */
START_TEST(many_are_told_apart)
{
	static struct perfctr_config *config[MANY];
	u32 i;

	begin(&model_default);
	for (i = 0; i < MANY; i++)
		config[i] = get_numbered(i);
	ck_assert_uint_eq(configs_there(), MANY);
	for (i = 0; i < MANY; i++)
		ck_assert_ptr_eq(get_numbered(i), config[i]);
	for (i = 0; i < MANY; i++) {
		perfctr_config_put(config[i], false);
		perfctr_config_put(config[i], i % 2);
	}
	shim_work(false);
	ck_assert_uint_eq(configs_there(), 0);
	end();
}
END_TEST

/*
 * Where a long has 32 bits, here 20, ids come to their end. They begin again, without those that
 * others have, and without what stands for no config.
 */
START_TEST(ids_begin_again)
{
	static struct pid_namespace inner;
	struct perfctr_config *kept[3], *config;
	unsigned long least = ~0ul, last = 0;
	unsigned int again = 0;
	u32 i, k;

	begin(&model_default);
	kept[0] = get_numbered(0);
	/* The same id, and another kin */
	shim_current.pid_ns = &inner;
	kept[1] = get_numbered(0);
	shim_current.pid_ns = NULL;
	kept[2] = get_numbered(1);
	for (i = 2; i < 140000; i++) {
		config = get_numbered(i);
		for (k = 0; k < 3; k++) {
			ck_assert_uint_ne(config->id, kept[k]->id);
			ck_assert_uint_ne(config->id, kept[k]->kin);
			ck_assert_uint_ne(config->kin, kept[k]->id);
		}
		ck_assert_uint_eq(config->id & (PERFCTR_ID_UPPER | (PERFCTR_ID_STEP - 1)),
				  PERFCTR_ID_USER);
		again += config->id < last;
		last = config->id;
		least = min(least, last);
		perfctr_config_put(config, false);
	}
	/* An attempt that had to wait has had one, too. */
	ck_assert(BITS_PER_LONG < 64 ? again >= 2 : !again);
	ck_assert_uint_ge(least, PERFCTR_ID_STEP);
	for (k = 0; k < 3; k++)
		perfctr_config_put(kept[k], false);
	end();
}
END_TEST

START_TEST(so_many_at_most)
{
	struct perfctr_config *config;

	begin(&model_default);
	shim_set_param("controls", 1);
	config = get(two, 2);
	expect_error(two, 1, -ENOSPC);
	/* Stopping is always possible. */
	perfctr_config_put(get(two, 0), false);
	ck_assert_ptr_eq(get(two, 2), config);
	perfctr_config_put(config, false);
	/* Another user has a limit of its own. */
	shim_uid = 1;
	perfctr_config_put(get(two, 1), false);
	shim_uid = 0;
	perfctr_config_put(config, false);
	perfctr_config_put(get(two, 1), false);
	shim_set_param("controls", 16384);
	perfctr_account_exit();
	perfctr_broadcasts_made(0);
	end();
}
END_TEST

/* Controls one after the other: those beyond a second's worth wait, to the tick. */
START_TEST(broadcasts_take_their_time)
{
	u64 start = shim_now, earliest;
	unsigned int i, made = 0;

	begin(&model_default);
	for (i = 0; i < 1000; i++) {
		broadcasts_charged = 0;
		perfctr_config_put(get(i % 2 ? two : two + 1, 1), false);
		/* A claim's end is paid for with the claim. */
		made += broadcasts_charged + 1;
		earliest = made <= 100 + 40 ? 0 : (made - 140) * (NSEC_PER_SEC / 100);
		ck_assert_uint_ge(shim_now - start, earliest);
		ck_assert_uint_le(shim_now - start, made * (NSEC_PER_SEC / 100) + i * 4000000ull);
	}
	ck_assert_uint_gt(made, 1999);
	ck_assert_uint_gt(shim_waits, 0);
	end();
}
END_TEST

/* Would the next control wait? */
static bool is_spent(void)
{
	struct perfctr_account *account;
	int err = perfctr_account_add_config(&account);

	if (!err)
		perfctr_account_drop_config(account);
	return err == -EAGAIN;
}

static void spend(void)
{
	perfctr_broadcasts_made(500);
	ck_assert(is_spent());
}

START_TEST(what_is_there_does_not_wait)
{
	struct perfctr_config *config;

	begin(&model_default);
	config = get(two, 2);
	spend();
	ck_assert_ptr_eq(get(two, 2), config);
	perfctr_config_put(config, false);
	/* Neither does the clock alone, nor an end. */
	perfctr_config_put(get(two, 0), false);
	perfctr_config_put(config, false);
	ck_assert_uint_eq(shim_waits, 0);
	end();
}
END_TEST

/* 500 less the 100 of a second are four seconds, for this user alone. */
START_TEST(waits_as_long_as_it_must)
{
	u64 start;

	begin(&model_default);
	spend();
	start = shim_now;
	shim_uid = 7;
	perfctr_config_put(get(two, 2), false);
	ck_assert_uint_eq(shim_now, start);
	shim_uid = 0;
	perfctr_config_put(get(two, 2), false);
	ck_assert_uint_ge(shim_now - start, 4 * NSEC_PER_SEC);
	ck_assert_uint_le(shim_now - start, 4 * NSEC_PER_SEC + 20 * (NSEC_PER_SEC / 250));
	shim_uid = 7;
	perfctr_account_exit();
	shim_uid = 0;
	perfctr_broadcasts_made(0);
	end();
}
END_TEST

START_TEST(a_signal_ends_the_wait)
{
	begin(&model_default);
	spend();
	shim_signal_after = 1;
	expect_error(two, 2, -ERESTARTSYS);
	ck_assert_uint_eq(shim_waits, 2);
	ck_assert_int_eq(perfctr_broadcasts_allow(), -ERESTARTSYS);
	shim_signal_after = -1;
	perfctr_config_put(get(two, 2), false);
	end();
}
END_TEST

START_TEST(no_limit)
{
	begin(&model_default);
	spend();
	shim_set_param("broadcasts", 0);
	perfctr_config_put(get(two, 2), false);
	ck_assert_uint_eq(shim_waits, 0);
	shim_set_param("broadcasts", 100);
	end();
}
END_TEST

/* The broadcasts of the kernel's threads were paid for before. */
START_TEST(workers_pay_nothing)
{
	begin(&model_default);
	shim_current.flags = PF_KTHREAD;
	perfctr_broadcasts_made(1000000);
	shim_current.flags = 0;
	ck_assert(!is_spent());
	end();
}
END_TEST

/* Users come and go: no more accounts stay than there are buckets. */
START_TEST(accounts_end)
{
	begin(&model_default);
	for (shim_uid = 1; shim_uid < 20000; shim_uid++) {
		perfctr_broadcasts_made(1);
		shim_now += 2 * NSEC_PER_SEC;
	}
	ck_assert_uint_le(shim_allocations, 256);
	shim_uid = 0;
	end();
}
END_TEST

/* Who has no memory is charged all the same, and nobody else is. */
START_TEST(no_memory_for_an_account)
{
	begin(&model_default);
	perfctr_account_exit();
	shim_no_memory = true;
	spend();
	ck_assert(is_spent());
	shim_uid = 5;
	ck_assert(!is_spent());
	shim_uid = 0;
	shim_now += 5 * NSEC_PER_SEC;
	ck_assert(!is_spent());
	ck_assert_int_eq(PTR_ERR(config_get_current(two, 2, PERFCTR_SOURCE_NATIVE, &refusal)), -ENOMEM);
	shim_no_memory = false;
	perfctr_broadcasts_made(0);
	end();
}
END_TEST

/* In a namespace the owner of the outermost one pays, whoever one is there. Root's pays itself. */
START_TEST(namespaces_have_an_account)
{
	struct user_namespace outer = { .parent = &init_user_ns, .owner = KUIDT_INIT(1000) };
	struct user_namespace inner = { .parent = &outer, .owner = KUIDT_INIT(100007) };
	struct user_namespace roots[2] = {
		{ .parent = &init_user_ns, .ns.inum = 1 }, { .parent = &init_user_ns, .ns.inum = 2 },
	};

	begin(&model_default);
	shim_user_ns = &inner;
	shim_uid = 100008;
	spend();
	shim_uid = 100009;
	ck_assert(is_spent());
	shim_user_ns = &outer;
	ck_assert(is_spent());
	shim_user_ns = &init_user_ns;
	ck_assert(!is_spent());
	shim_uid = 1000;
	ck_assert(is_spent());
	shim_uid = 100010;
	shim_user_ns = &roots[0];
	spend();
	shim_uid = 0;
	ck_assert(is_spent());
	shim_user_ns = &roots[1];
	ck_assert(!is_spent());
	shim_user_ns = &init_user_ns;
	ck_assert(!is_spent());
	end();
}
END_TEST

void test_config_users(void)
{
	UNIT_RUN(each_user_has_its_own);
	UNIT_RUN(many_are_told_apart);
	UNIT_RUN(ids_begin_again);
	UNIT_RUN(so_many_at_most);
	UNIT_RUN(broadcasts_take_their_time);
	UNIT_RUN(what_is_there_does_not_wait);
	UNIT_RUN(waits_as_long_as_it_must);
	UNIT_RUN(a_signal_ends_the_wait);
	UNIT_RUN(no_limit);
	UNIT_RUN(workers_pay_nothing);
	UNIT_RUN(accounts_end);
	UNIT_RUN(no_memory_for_an_account);
	UNIT_RUN(namespaces_have_an_account);
}
