// SPDX-License-Identifier: GPL-2.0
/*
 * Guests of KVM's on the machine that counts: host's threads count exactly, guests compute
 * what they should, and the thread of a virtual CPU counts what the documents say.
 *
 * The environment's MEDIATED, a parameter of kvm_amd's, gives guests the counters for
 * themselves (Linux 7.2).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define KVM_DEVICE	"/dev/kvm"
#define MEDIATED_PMU	"/sys/module/kvm_amd/parameters/enable_mediated_pmu"
#define LOOPS		1000ul
#define TURNS		100u

/*
 * What guests execute: TURNS down to 1 are added up; user mode and kernel mode do the same.
 * The second one counts its own instructions, by the first counter of a K7.
 */
__asm__(".pushsection .rodata\n"
	".code32\n"
	"adder:\n"
	"1:	movl 0x2000, %ecx\n"
	"	xorl %eax, %eax\n"
	"2:	addl %ecx, %eax\n"
	"	decl %ecx\n"
	"	jnz 2b\n"
	"	movl %eax, 0x2004\n"
	"	outb %al, $0x10\n"
	"	jmp 1b\n"
	"adder_end:\n"
	"counter:\n"
	"1:	xorl %edx, %edx\n"
	"	xorl %eax, %eax\n"
	"	movl $0xc0010004, %ecx\n"
	"	wrmsr\n"
	"	movl $0x4300c0, %eax\n"
	"	movl $0xc0010000, %ecx\n"
	"	wrmsr\n"
	"	movl 0x2000, %ebx\n"
	"	xorl %esi, %esi\n"
	"2:	addl %ebx, %esi\n"
	"	decl %ebx\n"
	"	jnz 2b\n"
	"	movl %esi, 0x2004\n"
	"	movl $0xc0010004, %ecx\n"
	"	rdmsr\n"
	"	movl %eax, 0x2008\n"
	"	movl %edx, 0x200c\n"
	"	xorl %edx, %edx\n"
	"	xorl %eax, %eax\n"
	"	movl $0xc0010000, %ecx\n"
	"	wrmsr\n"
	"	outb %al, $0x10\n"
	"	jmp 1b\n"
	"counter_end:\n"
	".code64\n"
	".popsection\n");

extern const char adder[], adder_end[], counter[], counter_end[];

#define CODE		0x1000u
#define DATA		0x2000u
#define MEMORY		0x10000u
#define PER_TURN	UINT64_C(3)	/* instructions, of both */

/* Words at DATA */
enum { DATA_TURNS, DATA_SUM, DATA_COUNT, DATA_COUNT_HIGH };

/**
 * struct vm - a guest with one CPU
 * @run: what KVM says of it
 * @run_size: in bytes
 * @data: words of its memory that it shares with us
 */
struct vm {
	int kvm, vm, cpu;
	struct kvm_run *run;
	size_t run_size;
	volatile uint32_t *data;
};

/* --- KVM, which comes as modules --- */

static const char * const modules[] = { "irqbypass", "ccp", "kvm", "kvm-amd" };

static int load(const char *module, const char *params)
{
	char path[64];
	int fd, err;

	(void)snprintf(path, sizeof(path), "/lib/%s.ko", module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

static int kvm_load(void)
{
	const char *params = getenv("MEDIATED") ? "enable_mediated_pmu=1" : "";
	unsigned int i;
	int err = 0;

	for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		err = load(modules[i], i == 3 ? params : "");
		if (err && err != -EEXIST)
			return err;
	}
	return 0;
}

/* As its last guest has gone, what holds it may be a moment late. */
static int kvm_unload(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if (!syscall(SYS_delete_module, "kvm_amd", O_NONBLOCK))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		sleep_us(10000);
	}
	return -EWOULDBLOCK;
}

static struct kvm_segment segment(uint8_t type, uint8_t dpl)
{
	return (struct kvm_segment){
		.limit = 0xffffffff, .selector = (uint16_t)((type & 8 ? 0x8 : 0x10) | dpl),
		.type = type, .present = 1, .dpl = dpl, .db = 1, .s = 1, .g = 1,
	};
}

/* Flat, without pages, in a mode of the caller's choice */
static int set_registers(int cpu, uint8_t dpl)
{
	struct kvm_regs regs = { .rip = CODE, .rflags = 2 | 3 << 12 }; /* any mode may do I/O */
	struct kvm_sregs sregs;

	if (ioctl(cpu, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cr0 |= 1;
	sregs.cs = segment(0xb, dpl);
	sregs.ds = segment(0x3, dpl);
	sregs.es = sregs.ds;
	sregs.fs = sregs.ds;
	sregs.gs = sregs.ds;
	sregs.ss = sregs.ds;
	if (ioctl(cpu, KVM_SET_SREGS, &sregs) || ioctl(cpu, KVM_SET_REGS, &regs))
		return -errno;
	return 0;
}

/* All that the processor has: KVM gives it counters then. */
static int set_cpuid(int kvm, int cpu)
{
	struct {
		struct kvm_cpuid2 head;
		struct kvm_cpuid_entry2 entries[100];
	} cpuid = { .head.nent = 100 };

	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &cpuid) || ioctl(cpu, KVM_SET_CPUID2, &cpuid))
		return -errno;
	return 0;
}

/* Never 0 */
static int failed(void)
{
	return errno > 0 ? -errno : -EIO;
}

static int vm_start(struct vm *vm, const char *code, const char *end, uint8_t dpl)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	uint32_t *memory;
	int err, size;

	*vm = (struct vm){ .kvm = -1, .vm = -1, .cpu = -1 };
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return failed();
	memcpy(memory + CODE / 4, code, (size_t)(end - code));
	vm->data = memory + DATA / 4;
	region.userspace_addr = (uintptr_t)memory;
	vm->kvm = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		return failed();
	vm->vm = ioctl(vm->kvm, KVM_CREATE_VM, 0);
	size = ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	/* With its own interrupt controller, as a mediated vPMU needs it */
	if (vm->vm < 0 || size < 0 || ioctl(vm->vm, KVM_CREATE_IRQCHIP, 0) ||
	    ioctl(vm->vm, KVM_SET_USER_MEMORY_REGION, &region))
		return failed();
	vm->cpu = ioctl(vm->vm, KVM_CREATE_VCPU, 0);
	if (vm->cpu < 0)
		return failed();
	vm->run_size = (size_t)size;
	vm->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->cpu, 0);
	if (vm->run == MAP_FAILED)
		return failed();
	err = set_cpuid(vm->kvm, vm->cpu);
	return err ? err : set_registers(vm->cpu, dpl);
}

static void vm_stop(struct vm *vm)
{
	munmap(vm->run, vm->run_size);
	close(vm->cpu);
	close(vm->vm);
	close(vm->kvm);
}

/* Returns 0; EINTR: a signal came, and the guest goes on by vm_go_on(); or what went wrong. */
static int vm_go_on(struct vm *vm)
{
	uint32_t turns = vm->data[DATA_TURNS];

	if (ioctl(vm->cpu, KVM_RUN, 0))
		return -errno;
	if (vm->run->exit_reason != KVM_EXIT_IO)
		return -ENOTRECOVERABLE;
	return vm->data[DATA_SUM] == (uint32_t)((uint64_t)turns * (turns + 1) / 2) ? 0 : -EDOM;
}

static int vm_run(struct vm *vm, uint32_t turns)
{
	vm->data[DATA_TURNS] = turns;
	vm->data[DATA_SUM] = 0;
	return vm_go_on(vm);
}

static void vm_start_ok(struct vm *vm, const char *code, const char *end, uint8_t dpl)
{
	int err = vm_start(vm, code, end, dpl);

	ck_assert_msg(!err, "a guest: %s", strerror(-err));
}

static void vm_run_ok(struct vm *vm, uint32_t turns)
{
	int err = vm_run(vm, turns);

	ck_assert_msg(!err, "KVM_RUN: %s, exit %u", strerror(-err), vm->run->exit_reason);
}

/* --- a process with a guest that never rests --- */

struct hypervisor {
	volatile bool stop;
	volatile int error;
	volatile uint64_t runs;
	pid_t pid;
};

static void be_hypervisor(struct hypervisor *self, const char *code, const char *end, uint8_t dpl,
			  int cpu)
{
	struct vm vm;
	uint32_t turns = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cpu >= 0)
		pin_self((unsigned int)cpu);
	self->error = vm_start(&vm, code, end, dpl);
	while (!self->error && !self->stop) {
		turns = (turns + 777) % 20000;
		self->error = vm_run(&vm, turns + 1);
		self->runs++;
	}
	_exit(0);
}

static struct hypervisor *hypervisor_start(const char *code, const char *end, uint8_t dpl, int cpu)
{
	struct hypervisor *hypervisor = shared_alloc(sizeof(*hypervisor));

	pid_t pid;

	ck_ok(pid = fork());
	if (!pid)
		be_hypervisor(hypervisor, code, end, dpl, cpu);
	hypervisor->pid = pid;
	while (!hypervisor->error && hypervisor->runs < 3)
		sleep_us(1000);
	ck_assert_msg(!hypervisor->error, "a guest: %s", strerror(-hypervisor->error));
	return hypervisor;
}

/* It was undisturbed, and ran meanwhile. */
static void hypervisor_stop(struct hypervisor *hypervisor)
{
	uint64_t runs = hypervisor->runs;

	while (!hypervisor->error && hypervisor->runs < runs + 3)
		sleep_us(1000);
	hypervisor->stop = true;
	expect_exit(hypervisor->pid, 0);
	ck_assert_msg(!hypervisor->error, "a guest: %s", strerror(-hypervisor->error));
}

/* --- what is exact --- */

/* Instructions and cycles, which are as many */
static int count_two(uint32_t flags)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, flags);
	control_add_at(&control, PERFCTR_MAP_ANY, EV_CYCLES, flags);
	set_control(fd, &control);
	return fd;
}

static void exact_once(int fd, body_fn *body, unsigned long arg, uint64_t length)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	unsigned int i;

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body, arg), 0);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(rd[1].sum[i] - rd[0].sum[i], EXACT_KERNEL + length);
}

static void exact_many_times(int fd)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		exact_once(fd, body_spin, LOOPS, BODY_SPIN(LOOPS));
		exact_once(fd, body_yield, 4, BODY_YIELD(4));
		/* Some ticks */
		if (i % 10 == 0)
			exact_once(fd, body_spin, 1000 * LOOPS, BODY_SPIN(1000 * LOOPS));
		sleep_us(500);
	}
}

static void exact_inline_once(const struct perfctr_page *page)
{
	uint64_t value[2] = { 0 };
	long retries = exact_inline(page, 0, body_spin, LOOPS, value);

	ck_assert_int_ge(retries, 0);
	ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(LOOPS) +
			  (uint64_t)retries * EXACT_INLINE_RETRY);
}

/* --- the tests --- */

/* Beside a guest in this mode */
static void exact_on_the_same_cpu(uint8_t dpl)
{
	struct hypervisor *hypervisor = hypervisor_start(adder, adder_end, dpl, 0);

	pin_self(0);
	exact_many_times(count_two(PERFCTR_CTR_USER));
	hypervisor_stop(hypervisor);
}

START_TEST(host_on_the_same_cpu)
{
	exact_on_the_same_cpu(3);
}
END_TEST

START_TEST(host_on_the_same_cpu_as_a_guests_kernel)
{
	exact_on_the_same_cpu(0);
}
END_TEST

START_TEST(host_read_inline)
{
	struct hypervisor *hypervisor = hypervisor_start(adder, adder_end, 3, 0);
	const struct perfctr_page *page;
	unsigned int i;

	pin_self(0);
	page = map_page(count_two(PERFCTR_CTR_USER));
	for (i = 0; i < 5 * TURNS; i++) {
		exact_inline_once(page);
		if (i % 10 == 0)
			sleep_us(300);
	}
	hypervisor_stop(hypervisor);
}
END_TEST

START_TEST(host_that_moves)
{
	struct hypervisor *hypervisor = hypervisor_start(adder, adder_end, 3, 1);
	int fd = count_two(PERFCTR_CTR_USER);
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		pin_self(i & 1);
		exact_once(fd, body_spin, LOOPS, BODY_SPIN(LOOPS));
		exact_once(fd, body_yield, 3, BODY_YIELD(3));
	}
	hypervisor_stop(hypervisor);
}
END_TEST

/* How much more the thread of a virtual CPU counts if its guest executes @turns more */
static uint64_t more_for(struct vm *vm, int fd, uint32_t turns)
{
	uint64_t once, before = read_sum(fd, 0);

	vm_run_ok(vm, 1000);
	once = read_sum(fd, 0) - before;
	before = read_sum(fd, 0);
	vm_run_ok(vm, 1000 + turns);
	return read_sum(fd, 0) - before - once;
}

/* A guest's user mode is user mode. Perf's counters do not count guests. */
START_TEST(virtual_cpu_in_user_mode)
{
	struct vm vm;
	unsigned int i;
	int fd;

	vm_start_ok(&vm, adder, adder_end, 3);
	vm_run_ok(&vm, 1);
	fd = count_two(PERFCTR_CTR_USER);
	(void)more_for(&vm, fd, 1);
	for (i = 0; i < TURNS; i++) {
		const uint32_t turns = 100 + 333 * i;

		ck_assert_uint_eq(more_for(&vm, fd, turns), guest.shared ? 0 : PER_TURN * turns);
	}
	/* With ticks of the host's */
	ck_assert_uint_eq(more_for(&vm, fd, 10000000), guest.shared ? 0 : PER_TURN * 10000000);
	unlink_self(fd);
	vm_stop(&vm);
}
END_TEST

START_TEST(virtual_cpu_in_kernel_mode)
{
	struct vm vm;
	unsigned int i;
	int fd;

	vm_start_ok(&vm, adder, adder_end, 0);
	vm_run_ok(&vm, 1);
	fd = count_two(PERFCTR_CTR_USER);
	(void)more_for(&vm, fd, 1);
	for (i = 0; i < TURNS; i++)
		ck_assert_uint_eq(more_for(&vm, fd, 100 + 333 * i), 0);
	unlink_self(fd);
	vm_stop(&vm);
}
END_TEST

/* What the host's kernel executes meanwhile is never the same. */
START_TEST(virtual_cpu_counted_in_kernel_mode)
{
	const uint32_t turns = 10000000;
	struct vm vm;
	uint64_t more;
	int fd;

	vm_start_ok(&vm, adder, adder_end, 0);
	vm_run_ok(&vm, 1);
	fd = count_two(PERFCTR_CTR_KERNEL);
	(void)more_for(&vm, fd, 1);
	more = more_for(&vm, fd, turns);
	if (guest.shared) {
		ck_assert_uint_lt(more, turns / 2);
	} else {
		ck_assert_uint_gt(more, PER_TURN * (uint64_t)turns);
		ck_assert_uint_lt(more, PER_TURN * (uint64_t)turns + turns / 2);
	}
	unlink_self(fd);
	vm_stop(&vm);
}
END_TEST

static volatile unsigned int signals;

static void on_overflow(int signo)
{
	(void)signo;
	signals++;
}

/* An overflow in the guest ends KVM_RUN as any signal does, and the guest goes on afterwards. */
START_TEST(virtual_cpu_overflows)
{
	const uint32_t turns = 200000, period = 50000;
	struct sigaction action = { .sa_handler = on_overflow };
	struct perfctr_control control;
	struct perfctr_read rd;
	unsigned int n = 0;
	struct vm vm;
	int fd, err;

	vm_start_ok(&vm, adder, adder_end, 3);
	vm_run_ok(&vm, 1);
	ck_ok(sigaction(SIGUSR1, &action, NULL));
	fd = open_self();
	control_init(&control);
	control.si_signo = SIGUSR1;
	control_add_ictr(&control, EV_INSTRUCTIONS, -(int64_t)period);
	set_control(fd, &control);
	err = vm_run(&vm, turns);
	while (err == -EINTR) {
		n++;
		ck_ok(ioctl(fd, PERFCTR_IOC_IRESUME));
		err = vm_go_on(&vm);
	}
	read_all(fd, &rd);
	ck_assert_msg(!err, "KVM_RUN: %s", strerror(-err));
	ck_assert_uint_eq(n, guest.shared ? 0 : PER_TURN * turns / period);
	ck_assert_uint_eq(signals, n);
	unlink_self(fd);
	vm_stop(&vm);
}
END_TEST

/* KVM turns virtualization on and off on all CPUs, as it is loaded and as guests come and go. */
START_TEST(kvm_comes_and_goes)
{
	const struct perfctr_page *page;
	int *error = shared_alloc(sizeof(*error));
	unsigned int i, rounds = 0;
	pid_t pid;
	int fd, status;

	fd = count_two(PERFCTR_CTR_USER);
	page = guest.shared ? NULL : map_page(fd);
	ck_ok(pid = fork());
	if (!pid) {
		for (i = 0; i < 20 && !*error; i++) {
			struct vm vm;

			*error = kvm_unload();
			if (*error)
				break;
			sleep_us(1000);
			*error = kvm_load();
			if (*error || i % 2)
				continue;
			*error = vm_start(&vm, adder, adder_end, 3);
			if (*error)
				break;
			*error = vm_run(&vm, 10000);
			vm_stop(&vm);
		}
		_exit(0);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		rounds++;
		pin_self(rounds & 1 && guest.ncpus > 1);
		exact_once(fd, body_spin, LOOPS, BODY_SPIN(LOOPS));
		exact_once(fd, body_yield, 2, BODY_YIELD(2));
		if (page)
			exact_inline_once(page);
	}
	ck_assert_msg(!*error, "KVM: %s", strerror(-*error));
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(rounds, 100);
	/* And then it still counts. */
	exact_many_times(fd);
}
END_TEST

/* Starts and stops counting while a guest comes and goes: perf and the guest find all as it was. */
START_TEST(counting_comes_and_goes)
{
	struct hypervisor *hypervisor = hypervisor_start(adder, adder_end, 3, 0);
	unsigned int i;
	int fd, perf;

	pin_self(0);
	for (i = 0; i < 30; i++) {
		fd = count_two(PERFCTR_CTR_USER);
		exact_once(fd, body_yield, 4, BODY_YIELD(4));
		unlink_self(fd);
		close(fd);
	}
	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	for (i = 0; i < 30; i++) {
		uint64_t words[2];

		ck_assert_int_eq(exact_read(perf, words, sizeof(words[0]), body_yield, 4),
				 sizeof(words[0]));
		ck_assert_uint_eq(words[1] - words[0], EXACT_KERNEL + BODY_YIELD(4));
	}
	close(perf);
	hypervisor_stop(hypervisor);
}
END_TEST

static uint64_t guests_count(const struct vm *vm)
{
	return vm->data[DATA_COUNT] | (uint64_t)vm->data[DATA_COUNT_HIGH] << 32;
}

/* What a guest counts more of itself if it executes @turns more */
static uint64_t guest_counts_more(struct vm *vm, uint32_t turns)
{
	uint64_t once;

	vm_run_ok(vm, 1000);
	once = guests_count(vm);
	vm_run_ok(vm, 1000 + turns);
	return guests_count(vm) - once;
}

static int try_to_count(int fd, uint32_t *reason)
{
	struct perfctr_control control;
	int err;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(fd, &control);
	*reason = control.reason;
	return err;
}

/*
 * KVM has perf count for a guest that uses counters. So it counts while we count by perf; while
 * we have the counters it does not; and while it does we do not get them: as with any user of perf's.
 */
START_TEST(guest_counts_itself)
{
	struct vm vm;
	unsigned int i;
	uint32_t reason;
	int fd;

	fd = count_two(PERFCTR_CTR_USER);
	vm_start_ok(&vm, counter, counter_end, 0);
	vm_run_ok(&vm, 1);
	for (i = 1; i < 10; i++)
		ck_assert_uint_eq(guest_counts_more(&vm, 1000 * i),
				  guest.shared ? 1000 * PER_TURN * i : 0);
	exact_many_times(fd);
	unlink_self(fd);
	close(fd);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(guest_counts_more(&vm, 1000 * i), 1000 * PER_TURN * i);
	fd = open_self();
	ck_assert_int_eq(try_to_count(fd, &reason), guest.shared ? 0 : -EBUSY);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(guest_counts_more(&vm, 1000 * i), 1000 * PER_TURN * i);
	vm_stop(&vm);
	close(fd);
	exact_many_times(count_two(PERFCTR_CTR_USER));
}
END_TEST

/* --- a guest that has the counters for itself --- */

START_TEST(mediated_guest_takes_native_counters)
{
	struct perfctr_read rd;
	struct vm vm;
	uint32_t reason;
	int fd = count_two(PERFCTR_CTR_USER);

	exact_once(fd, body_spin, LOOPS, BODY_SPIN(LOOPS));
	vm_start_ok(&vm, counter, counter_end, 0);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(guest_counts_more(&vm, 1000), 1000 * PER_TURN);
	/* Nobody gets them until it has gone. */
	unlink_self(fd);
	close(fd);
	fd = open_self();
	ck_assert_int_eq(try_to_count(fd, &reason), -EBUSY);
	ck_assert_uint_eq(reason, PERFCTR_REASON_MEDIATED);
	ck_assert_uint_eq(guest_counts_more(&vm, 1000), 1000 * PER_TURN);
	vm_stop(&vm);
	close(fd);
	exact_many_times(count_two(PERFCTR_CTR_USER));
}
END_TEST

START_TEST(mediated_guest_beside_perfs_counters)
{
	struct hypervisor *hypervisor = hypervisor_start(counter, counter_end, 0, 0);
	struct vm vm;
	unsigned int i;
	int fd;

	pin_self(0);
	fd = count_two(PERFCTR_CTR_USER);
	exact_many_times(fd);
	vm_start_ok(&vm, counter, counter_end, 0);
	vm_run_ok(&vm, 1);
	for (i = 0; i < 10; i++) {
		ck_assert_uint_eq(guest_counts_more(&vm, 1000 * i), 1000 * PER_TURN * i);
		exact_once(fd, body_yield, 4, BODY_YIELD(4));
	}
	vm_stop(&vm);
	hypervisor_stop(hypervisor);
}
END_TEST

int main(void)
{
	const unsigned int what = NEED_COUNTERS;
	char text[16];
	int err;

	guest_begin("kvm", NULL);
	(void)kvm_unload();
	err = kvm_load();
	if (!err && getenv("MEDIATED") && (read_text(MEDIATED_PMU, text, sizeof(text)) < 1 ||
					   text[0] != 'Y'))
		err = -EOPNOTSUPP;
	if (err) {
		printf("not ok kvm: KVM cannot be loaded: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	if (getenv("MEDIATED")) {
		if (guest.shared)
			GUEST_RUN(mediated_guest_beside_perfs_counters, what | NEED_SHARED);
		else
			GUEST_RUN(mediated_guest_takes_native_counters, what | NEED_NATIVE);
		return guest_end();
	}
	GUEST_RUN(host_on_the_same_cpu, what);
	GUEST_RUN(host_on_the_same_cpu_as_a_guests_kernel, what);
	GUEST_RUN(host_read_inline, what | NEED_USER_READ);
	GUEST_RUN(host_that_moves, what | NEED_SMP);
	GUEST_RUN(virtual_cpu_in_user_mode, what);
	GUEST_RUN(virtual_cpu_in_kernel_mode, what);
	GUEST_RUN(virtual_cpu_counted_in_kernel_mode, what);
	GUEST_RUN(virtual_cpu_overflows, what | NEED_INTERRUPT);
	GUEST_RUN(guest_counts_itself, what);
	GUEST_RUN(counting_comes_and_goes, what | NEED_PERF);
	GUEST_RUN(kvm_comes_and_goes, what);
	return guest_end();
}
