// SPDX-License-Identifier: GPL-2.0
/* The operations of fuzz: a grammar of the ABI. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perfctr.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"

/* --- arguments --- */

/* Numbers at which something begins or ends */
static uint32_t odd_number(uint32_t a)
{
	static const uint32_t odd[] = {
		0, 1, 2, 7, 8, 63, 64, 65, 0x7f, 0x80, 0xff, 4095, 4096, 4097, 65536, 65537, 0x7fffffff,
		0x80000000, 0xfffffffe, 0xffffffff,
	};

	return a & 1 ? odd[a / 2 % (sizeof(odd) / sizeof(odd[0]))] : a >> 1;
}

#define PICK(table, a)	((table)[(a) % (sizeof(table) / sizeof((table)[0]))])

static int *slot(struct world *world, uint32_t a)
{
	return &world->fd[a % FDS];
}

/* There are few, or hardly a call would find what another has made. */
static int some_fd(struct world *world, uint32_t a)
{
	return *slot(world, a);
}

static pid_t some_tid(struct world *world, uint32_t a)
{
	switch (a % 8) {
	case 0: return (pid_t)syscall(SYS_gettid);
	case 1: return getppid();
	case 2: return 1;
	case 3: return (pid_t)odd_number(a >> 3);
	default: return world->child[a / 8 % CHILDREN];
	}
}

/* Puts a structure where a call is to find it. */
static void *place(struct world *world, const void *from, size_t size, uint32_t a)
{
	char *to = world->arena;

	switch (a % 64) {
	case 0: return NULL;
	case 1: return (void *)8;
	case 2: return (void *)-4096l;
	case 3: to += ARENA - size; break;
	case 4: to += ARENA - size + 8; size -= 8; break;	/* its end is missing */
	case 5: to += 1; break;
	default: break;
	}
	memcpy(to, from, size);
	return to;
}

/* A structure's size, as a caller may have it: mostly right */
static uint32_t some_size(uint32_t least, size_t now, uint32_t a)
{
	switch (a % 32) {
	case 0: return odd_number(a >> 5);
	case 1: return least - 1;
	case 2: return least;
	case 3: return (uint32_t)now + 8;
	case 4: return PERFCTR_MAX_SIZE + 1;
	case 5: return least + 4;
	default: return (uint32_t)now;
	}
}

/* --- calls with a structure: a refusal writes nothing, but for the bytes from @from to @to --- */

static int call(struct world *world, int fd, unsigned long request, void *arg, size_t from, size_t to)
{
	bool inside = (char *)arg >= world->arena && (char *)arg < world->arena + ARENA;
	char before[8192];
	size_t n = 0, i;
	int err;

	if (inside) {
		n = (size_t)(world->arena + ARENA - (char *)arg);
		if (n > sizeof(before))
			n = sizeof(before);
		memcpy(before, arg, n);
	}
	err = ioctl(fd, request, arg) < 0 ? errno : 0;
	shared->calls++;
	if (!err)
		return 0;
	shared->refused++;
	/* Sums are told beside a sticky error; and a copy may end in the middle. */
	if (err == EIO || err == EFAULT)
		return err;
	for (i = 0; i < n; i++)
		if (before[i] != ((char *)arg)[i] && (i < from || i >= to)) {
			wrong("ioctl %#lx was refused (%s), and wrote to byte %zu", request,
			      strerror(err), i);
			break;
		}
	return err;
}

static void op_device(struct world *world, const uint32_t *a)
{
	int *fd = slot(world, a[0]);

	if (*fd >= 0)
		close(*fd);
	*fd = open(PERFCTR_DEVICE, O_RDWR | (a[1] & 1 ? O_CLOEXEC : 0) | (a[1] & 2 ? O_NONBLOCK : 0));
}

static void op_open(struct world *world, const uint32_t *a)
{
	static const uint32_t flags[] = {
		PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL, 0,
		PERFCTR_OPEN_CPUS, PERFCTR_OPEN_CPUS, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
		PERFCTR_OPEN_THREAD, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD | PERFCTR_OPEN_PIDFD,
	};
	struct perfctr_open open = {
		.size = some_size(PERFCTR_OPEN_SIZE_VER0, sizeof(open), a[2]),
		.flags = a[1] % 16 ? PICK(flags, a[1]) : a[1] >> 4,
	};
	int pidfd = -1;

	if (open.flags & PERFCTR_OPEN_THREAD || a[2] >> 28 == 1)
		open.tid = some_tid(world, a[3]);
	if (open.flags & PERFCTR_OPEN_PIDFD) {
		pidfd = (int)syscall(SYS_pidfd_open, some_tid(world, a[4] & 15 ? a[3] : a[4] >> 4), 0);
		open.pidfd = pidfd;
	}
	if (a[2] >> 28 == 2)
		open.reserved[a[4] % 6] = a[5];
	if (a[2] >> 30)		/* most often a new handle */
		op_device(world, a);
	call(world, *slot(world, a[0]), PERFCTR_IOC_OPEN, place(world, &open, sizeof(open), a[5]), 0, 0);
	if (pidfd >= 0)
		close(pidfd);
}

static void make_counter(struct perfctr_ctr_control *ctr, uint32_t a, bool imode)
{
	static const uint32_t maps[] = { 0, 1, 2, 3, 24, 25, 26, 27, 63, 64 };
	static const int64_t periods[] = { -1, -2, -32, -100, -1000, -20000, -1000000, INT64_MIN };

	ctr->map = a & 7 ? PERFCTR_MAP_ANY : PICK(maps, a >> 3);
	ctr->flags = a >> 7 & 7 ? PERFCTR_CTR_USER : a >> 10 & 7;
	ctr->event = a >> 13 & 15 && shared->nevents ? shared->event[(a >> 17) % shared->nevents] :
						       odd_number(a >> 17);
	if (imode)
		ctr->ireset = PICK(periods, a >> 20);
	if (a >> 27 == 1) {
		ctr->flags |= PERFCTR_CTR_PERF;
		ctr->event = a >> 20 & 7;
		ctr->config = a >> 16 & 15;
	}
	if (a >> 27 == 2)
		ctr->config = 1ull << (a >> 20 & 63);
}

static void make_control(struct perfctr_control *control, const uint32_t *a)
{
	static const uint32_t flags[] = {
		0, 0, 0, PERFCTR_CONTROL_INHERIT, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP,
		PERFCTR_CONTROL_CLOEXEC, PERFCTR_CONTROL_ON_EXEC,
		PERFCTR_CONTROL_ON_EXEC | PERFCTR_CONTROL_INHERIT, PERFCTR_CONTROL_RAW,
		PERFCTR_CONTROL_SUSPENDED, PERFCTR_CONTROL_HOLDER_ONLY, PERFCTR_CONTROL_CPU,
		PERFCTR_CONTROL_CPU, PERFCTR_CONTROL_CPU | PERFCTR_CONTROL_NO_IDLE, PERFCTR_CONTROL_RECORD,
		PERFCTR_CONTROL_RECORD | PERFCTR_CONTROL_INHERIT,
	};
	static const int signals[] = { SIGUSR1, SIGUSR1, SIGUSR1, SIGIO, 0, SIGKILL, 40, 64, 65, -1 };
	unsigned int i, nr;

	control->flags = a[1] % 32 ? PICK(flags, a[1] >> 5) : a[1] >> 5;
	control->tsc_on = a[2] >> 8 & 63 ? a[2] >> 14 & 1 : odd_number(a[2] >> 14);
	control->nractrs = a[2] & 7 ? a[2] % 5 : (a[2] >> 3 & 31) * 3;
	control->nrictrs = a[2] >> 16 & 3 ? 0 : a[2] >> 18 & 3;
	nr = control->nractrs + control->nrictrs;
	for (i = 0; i < nr && i < PERFCTR_MAX_CTRS; i++)
		make_counter(&control->ctr[i], a[3] * (2 * i + 1), i >= control->nractrs);
	if (control->flags & PERFCTR_CONTROL_RECORD) {
		if (a[4] & 1)
			control->timer_ns = a[4] & 2 ? PERFCTR_TIMER_MIN : odd_number(a[4] >> 2);
	} else if (control->nrictrs) {
		control->si_signo = PICK(signals, a[4]);
		control->refresh = a[4] >> 4 & 3 ? a[4] >> 6 & 7 : odd_number(a[4] >> 6);
	}
	if (control->flags & PERFCTR_CONTROL_CPU)
		control->cpu = a[4] >> 10 & 7 ? (a[4] >> 13) % shared->ncpus : odd_number(a[4] >> 13);
	control->source = shared->through_perf ? PERFCTR_SOURCE_SHARED : (a[4] >> 20) % 16;
	if (control->source > PERFCTR_SOURCE_ANY + (a[4] >> 24 == 1))
		control->source = PERFCTR_SOURCE_ANY;
	control->preserve = a[4] >> 28 ? 0 : a[4] & 31;
	/* What is wrong as a whole */
	switch (a[5] >> 8 & 31) {
	case 0: ((uint8_t *)control)[a[5] >> 13 & 4095] = (uint8_t)(a[0] >> 8); break;
	case 1: ((uint32_t *)control)[a[5] >> 13 & 31] = odd_number(a[0] >> 8); break;
	case 2: control->size = odd_number(a[5] >> 13); break;
	case 3: control->ctr_offset = (a[5] >> 13 & 255) * 8; break;
	case 4: control->ctr_size = (a[5] >> 13 & 255) * 8; break;
	case 5: control->size = (uint32_t)CONTROL_SIZE(nr < 64 ? nr : 64); break;
	default: break;
	}
}

static bool control_of(int fd, struct perfctr_control *control)
{
	struct perfctr_control init = { PERFCTR_CONTROL_INIT };

	*control = init;
	return !ioctl(fd, PERFCTR_IOC_READ_CONTROL, control);
}

static void op_control(struct world *world, const uint32_t *a)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT }, before, now;
	int fd = some_fd(world, a[0]);
	bool had = world->alone && control_of(fd, &before);
	int err;

	make_control(&control, a);
	err = call(world, fd, PERFCTR_IOC_CONTROL, place(world, &control, sizeof(control), a[5]),
		   offsetof(struct perfctr_control, refused), offsetof(struct perfctr_control, cpu));
	/* EIO: it is in force, and its counters were lost at once. */
	if (err && err != EIO && had && (!control_of(fd, &now) || memcmp(&now, &before, sizeof(now)) != 0))
		wrong("a control was refused, and the one in force is another");
}

static void op_get(struct world *world, const uint32_t *a)
{
	static const struct {
		unsigned long request;
		uint32_t least;
		size_t size;
	} gets[] = {
		{ PERFCTR_IOC_READ, PERFCTR_READ_SIZE_VER0, sizeof(struct perfctr_read) },
		{ PERFCTR_IOC_READ_CONTROL, PERFCTR_CONTROL_SIZE_VER0, sizeof(struct perfctr_control) },
		{ PERFCTR_IOC_READ_TREE, PERFCTR_READ_TREE_SIZE_VER0, sizeof(struct perfctr_read_tree) },
		{ PERFCTR_IOC_NEXT_MEMBER, PERFCTR_MEMBER_SIZE_VER0, sizeof(struct perfctr_member) },
		{ PERFCTR_IOC_READ_CPU, PERFCTR_READ_CPU_SIZE_VER0, sizeof(struct perfctr_read_cpu) },
		{ PERFCTR_IOC_INFO, PERFCTR_INFO_SIZE_VER0, sizeof(struct perfctr_kernel_info) },
	};
	union {
		struct perfctr_control control;
		struct perfctr_read_tree tree;
		struct perfctr_member member;
		struct perfctr_read_cpu cpu;
		uint32_t word[sizeof(struct perfctr_control) / 4];
	} buf = { .control = { PERFCTR_CONTROL_INIT } };
	unsigned int which = a[1] % 6;

	if (which != 1)
		memset(&buf, (int)(a[2] >> 24), sizeof(buf));
	buf.word[0] = some_size(gets[which].least, gets[which].size, a[2]);
	if (which == 1 && a[3] & 1)
		buf.word[2 + (a[3] >> 1 & 1)] = a[3] >> 2 & 0x3f8;
	if (which == 2)
		buf.tree.which = a[3] & 15;
	else if (which == 3)
		buf.member.cursor = a[3] & 1 ? a[3] >> 1 & 3 : 0;
	else if (which == 4)
		buf.cpu.cpu = a[3] & 7 ? a[3] % shared->ncpus : odd_number(a[3] >> 3);
	call(world, some_fd(world, a[0]), gets[which].request, place(world, &buf, sizeof(buf), a[5]), 0, 0);
}

static void op_cpus(struct world *world, const uint32_t *a)
{
	uint32_t mask[64] = { 0 };
	struct perfctr_cpus cpus = {
		.size = some_size(PERFCTR_CPUS_SIZE_VER0, sizeof(cpus), a[2]),
		.which = a[1] & 7 ? a[1] >> 3 & 1 : odd_number(a[1] >> 3),
		.nrwords = a[3] & 1 ? a[3] >> 1 & 63 : 0,
		.reserved = a[4] & 31 ? 0 : a[4],
		.mask = a[4] >> 5 & 7 ? (uintptr_t)mask : a[4] >> 8,
	};

	call(world, some_fd(world, a[0]), PERFCTR_IOC_CPUS, place(world, &cpus, sizeof(cpus), a[5]),
	     offsetof(struct perfctr_cpus, nrwords), offsetof(struct perfctr_cpus, reserved));
}

static void op_ring(struct world *world, const uint32_t *a)
{
	struct perfctr_ring ring = {
		.size = some_size(PERFCTR_RING_SIZE_VER0, sizeof(ring), a[2]),
		.flags = a[1] & 15 ? a[1] >> 4 & 9 : a[1] >> 4,
		.pages = a[3] & 15 ? 1u << (a[3] >> 4 & 3) : odd_number(a[3] >> 4),
		.wakeup = a[4] & 3 ? 0 : odd_number(a[4] >> 2),
	};

	if (ring.flags & PERFCTR_RING_USER_CHAIN)
		ring.user_depth = a[4] >> 16 & 127;
	if (ring.flags & PERFCTR_RING_KERNEL_CHAIN)
		ring.kernel_depth = a[4] >> 24;
	if (a[2] >> 28 == 1)
		ring.reserved[a[3] % 5] = a[1];
	call(world, some_fd(world, a[0]), PERFCTR_IOC_RING, place(world, &ring, sizeof(ring), a[5]), 0, 0);
}

static void op_add_member(struct world *world, const uint32_t *a)
{
	struct perfctr_add_member add = {
		.size = some_size(PERFCTR_ADD_MEMBER_SIZE_VER0, sizeof(add), a[2]),
		.flags = a[1] & 15 ? 0 : a[1] >> 4 & 3,
		.pidfd = a[1] & 15 ? 0 : (int)odd_number(a[3]),
		.tid = some_tid(world, a[4]),
	};

	call(world, some_fd(world, a[0]), PERFCTR_IOC_ADD_MEMBER, place(world, &add, sizeof(add), a[5]), 0, 0);
}

/* --- calls without a structure --- */

static void op_plain(struct world *world, const uint32_t *a)
{
	static const unsigned long requests[] = {
		PERFCTR_IOC_IRESUME, PERFCTR_IOC_SUSPEND, PERFCTR_IOC_RESUME, PERFCTR_IOC_REFRESH,
		PERFCTR_IOC_SUSPEND, PERFCTR_IOC_RESUME, PERFCTR_IOC_UNLINK,
	};
	unsigned long request = a[1] % 32 ? PICK(requests, a[1] >> 5) : _IO(PERFCTR_IOC_MAGIC, a[1] >> 5 & 63);

	(void)ioctl(some_fd(world, a[0]), request, a[2] & 1 ? (unsigned long)odd_number(a[2] >> 1) : 3);
	shared->calls++;
}

static void op_read(struct world *world, const uint32_t *a)
{
	size_t n = a[1] & 3 ? PAGE_SIZE : odd_number(a[1] >> 2) % ARENA;

	/* A session's, too; of a device it is an error. */
	(void)!read(some_fd(world, a[0]), place(world, world->arena, 8, a[5]), n);
	shared->calls++;
}

static void op_poll(struct world *world, const uint32_t *a)
{
	struct pollfd poll_fd = { .fd = some_fd(world, a[0]), .events = POLLIN | POLLHUP };

	(void)poll(&poll_fd, 1, (int)(a[1] & 3));
	(void)fcntl(poll_fd.fd, F_SETOWN, getpid());
	(void)fcntl(poll_fd.fd, F_SETSIG, a[2] & 1 ? SIGUSR1 : 0);
	(void)fcntl(poll_fd.fd, F_SETFL, a[2] & 2 ? O_RDWR | O_ASYNC : O_RDWR);
}

static void op_map(struct world *world, const uint32_t *a)
{
	unsigned int i = a[1] % MAPS;
	bool ring = a[2] & 1;
	size_t length = a[2] & 30 ? (ring ? (1u << (a[2] >> 5 & 3)) + 1 : 1) * PAGE_SIZE :
				    odd_number(a[2] >> 5) % (1u << 20);
	off_t offset = ring ? PERFCTR_RING_OFFSET : 0;
	int prot = a[4] & 7 ? PROT_READ | (ring ? PROT_WRITE : 0) : (int)(a[4] >> 3 & 7);

	if (!(a[3] & 15))
		offset = (off_t)odd_number(a[3] >> 4);
	if (world->map[i])
		(void)munmap(world->map[i], world->length[i]);
	world->map[i] = mmap(NULL, length, prot, a[4] & 0x1c0 ? MAP_SHARED : MAP_PRIVATE,
			     some_fd(world, a[0]), offset);
	if (world->map[i] == MAP_FAILED)
		world->map[i] = NULL;
	world->length[i] = length;
	shared->calls++;
}

static void op_remap(struct world *world, const uint32_t *a)
{
	unsigned int i = a[0] % MAPS;
	void *to;

	if (!world->map[i])
		return;
	switch (a[1] % 8) {
	case 0:
		(void)munmap(world->map[i], world->length[i]);
		world->map[i] = NULL;
		break;
	case 1: (void)mprotect(world->map[i], PAGE_SIZE, (int)(a[2] & 7)); break;
	case 2: (void)madvise(world->map[i], PAGE_SIZE, (int)(a[2] % 26)); break;
	case 3: (void)munmap((char *)world->map[i] + PAGE_SIZE, PAGE_SIZE); break;
	case 4: (void)mlock(world->map[i], world->length[i]); break;
	default:
		to = mremap(world->map[i], world->length[i], PAGE_SIZE * (1 + (a[2] & 3)),
			    a[3] & 1 ? MREMAP_MAYMOVE : 0);
		if (to == MAP_FAILED)
			break;
		world->map[i] = to;
		world->length[i] = PAGE_SIZE * (1 + (a[2] & 3));
	}
}

/* By the kernel, as it may not be there; to a ring's, any tail */
static void op_touch(struct world *world, const uint32_t *a)
{
	unsigned int i = a[0] % MAPS;
	char *page = world->map[i];
	uint32_t tail = a[1] & 3 ? 0 : odd_number(a[2]);
	uint64_t word;
	int fd[2];

	if (!page || pipe(fd))
		return;
	if (a[1] & 1 && write(fd[1], page + (a[2] & 0xff8), 8) == 8)
		(void)!read(fd[0], &word, 8);
	if (a[1] & 2) {
		if (!tail && write(fd[1], page + offsetof(struct perfctr_ring_page, head), 4) == 4)
			(void)!read(fd[0], &tail, 4);
		if (write(fd[1], &tail, 4) == 4)
			(void)!read(fd[0], page + offsetof(struct perfctr_ring_page, tail), 4);
	}
	close(fd[0]);
	close(fd[1]);
}

static void op_descriptor(struct world *world, const uint32_t *a)
{
	char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int *fd = slot(world, a[0]), from = some_fd(world, a[1]);

	switch (a[2] % 4) {
	case 0:
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
		break;
	case 1:
		if (from >= 0 && *fd < 0)
			*fd = dup(from);
		break;
	case 2:
		if (from < 0)
			break;
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &from, sizeof(int));
		(void)sendmsg(world->socket[0], &msg, MSG_DONTWAIT);
		break;
	default:
		if (recvmsg(world->socket[1], &msg, MSG_DONTWAIT) != 1 || *fd >= 0)
			break;
		cmsg = CMSG_FIRSTHDR(&msg);
		if (cmsg)
			memcpy(fd, CMSG_DATA(cmsg), sizeof(int));
	}
}

/* --- threads and processes --- */

static void run(struct world *world);

/* The next calls are another's. Returns where the caller goes on. */
static unsigned int part(struct world *world, uint32_t a)
{
	unsigned int end = world->next + 1 + a % 8;

	world->alone = false;
	return end < world->end ? end : world->end;
}

static void op_fork(struct world *world, const uint32_t *a)
{
	unsigned int end = part(world, a[0]);
	pid_t pid = fork();

	if (!pid) {
		memset(world->child, 0, sizeof(world->child));
		world->end = end;
		run(world);
		if (a[1] & 3)
			sleep_us(a[1] >> 2 & 0xffff);
		_exit(0);
	}
	if (pid > 0)
		world->child[a[2] % CHILDREN] = pid;
	world->next = end;
}

static char *make_arena(void)
{
	char *arena = mmap(NULL, ARENA + PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (arena == MAP_FAILED || mprotect(arena + ARENA, PAGE_SIZE, PROT_NONE))
		_exit(0);	/* it has used up its limit */
	return arena;
}

static void *thread(void *arg)
{
	struct world *world = arg;

	run(world);
	return NULL;
}

static void op_thread(struct world *world, const uint32_t *a)
{
	unsigned int end = part(world, a[0]);
	struct world *other = malloc(sizeof(*other));
	pthread_t id;

	if (!other)
		return;
	*other = *world;
	other->end = end;
	other->arena = make_arena();
	if (!pthread_create(&id, NULL, thread, other) && a[1] & 1)
		(void)pthread_join(id, NULL);
	world->next = end;
}

static void op_exec(struct world *world, const uint32_t *a)
{
	static char name[] = "fuzz", again[] = "--again";
	char *const argv[] = { name, again, NULL };
	pid_t pid = -1;

	shared->exec = *world;
	if (!(a[0] & 1)) {
		(void)execv("/proc/self/exe", argv);
		_exit(0);
	}
	shared->exec.end = part(world, a[1]);
	world->next = shared->exec.end;
	/* The second one is a vfork. */
	if (a[0] & 2)
		pid = fork();
	else if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ))
		return;
	if (!pid) {
		(void)execv("/proc/self/exe", argv);
		_exit(0);
	}
	if (pid > 0)
		world->child[a[2] % CHILDREN] = pid;
}

static void op_child(struct world *world, const uint32_t *a)
{
	static const int signals[] = { SIGKILL, SIGSTOP, SIGCONT, SIGUSR1, SIGTERM };
	pid_t child = world->child[a[0] % CHILDREN];
	int status;

	if (child <= 0)
		return;
	switch (a[1] % 8) {
	case 0: (void)kill(child, PICK(signals, a[2])); break;
	case 1: (void)waitpid(child, &status, WNOHANG | WUNTRACED); break;
	case 2: (void)ptrace(PTRACE_CONT, child, NULL, NULL); break;
	case 3: (void)ptrace(PTRACE_DETACH, child, NULL, NULL); break;
	case 4: (void)ptrace(PTRACE_SINGLESTEP, child, NULL, NULL); break;
	default:
		if (ptrace(PTRACE_SEIZE, child, NULL, a[2] & 1 ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC : 0))
			break;
		if (a[2] & 6 && !ptrace(PTRACE_INTERRUPT, child, NULL, NULL))
			(void)waitpid(child, &status, __WALL);
	}
}

/* --- what else happens to a thread --- */

static void op_go_on(struct world *world, const uint32_t *a)
{
	cpu_set_t cpus;

	(void)world;
	switch (a[0] % 8) {
	case 0: sched_yield(); break;
	case 1: sleep_us(a[1] & 4095); break;
	case 2:
	case 3:
		CPU_ZERO(&cpus);
		CPU_SET(a[1] % shared->ncpus, &cpus);
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
		break;
	case 4:
		CPU_ZERO(&cpus);
		for (unsigned int i = 0; i < shared->ncpus; i++)
			CPU_SET(i, &cpus);
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
		break;
	default: body_spin(a[1] & 0xffff);
	}
}

static void op_self(struct world *world, const uint32_t *a)
{
	struct rlimit limit = { (a[1] & 15) * PAGE_SIZE, RLIM_INFINITY };
	char name[2] = { (char)('a' + (a[1] & 15)), 0 };
	void *code;

	(void)world;
	switch (a[0] % 10) {
	case 0: (void)prctl(PR_SET_DUMPABLE, a[1] & 1); break;
	case 1: (void)!setuid(a[1] & 1 ? GUEST_UID : STRANGER_UID); break;
	case 2:
		limit.rlim_max = limit.rlim_cur;
		(void)setrlimit(a[2] & 1 ? RLIMIT_MEMLOCK : RLIMIT_SIGPENDING, &limit);
		break;
	case 3: (void)prctl(PR_SET_NAME, name); break;
	case 4: _exit(0);
	case 5: (void)!unshare(a[1] & 1 ? CLONE_NEWUSER : CLONE_NEWUSER | CLONE_NEWPID); break;
	case 6: (void)signal(SIGUSR1, a[1] & 1 ? SIG_IGN : SIG_DFL); break;
	default:
		code = mmap(NULL, PAGE_SIZE * (1 + (a[1] & 3)), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (code != MAP_FAILED && a[1] & 4)
			(void)munmap(code, PAGE_SIZE);
	}
}

/* Root's, beside all others; no process of ours is left without its CPU or its counters for long. */
static void op_root(struct world *world, const uint32_t *a)
{
	static const char *const writes[][2] = {
		{ "user_read", "off" }, { "user_read", "open" }, { "user_read", "guarded" },
		{ "source", "native" }, { "source", "shared" }, { "source", "any" },
		{ "evict", "all" }, { "evict", "1000" }, { "evict", "x" },
	};
	char path[128];

	(void)world;
	if (getuid())
		return;
	if (a[0] % 16 == 0 && shared->ncpus > 1) {
		(void)cpu_online(1, false);
		sleep_us(a[1] & 1023);
		(void)cpu_online(1, true);
		return;
	}
	(void)snprintf(path, sizeof(path), MODULE_PARAMS "%s", PICK(writes, a[1])[0]);
	(void)write_text(path, PICK(writes, a[1])[1]);
}

const struct op ops[] = {
	{ "device", op_device, 1 }, { "open", op_open, 6 }, { "control", op_control, 12 }, { "get", op_get, 8 },
	{ "cpus", op_cpus, 1 }, { "ring", op_ring, 3 }, { "add", op_add_member, 2 }, { "plain", op_plain, 5 },
	{ "read", op_read, 2 }, { "poll", op_poll, 1 }, { "map", op_map, 4 }, { "remap", op_remap, 1 },
	{ "touch", op_touch, 2 }, { "fd", op_descriptor, 3 }, { "fork", op_fork, 3 }, { "thread", op_thread, 3 },
	{ "exec", op_exec, 2 }, { "child", op_child, 4 }, { "go", op_go_on, 4 }, { "self", op_self, 2 },
	{ "root", op_root, 1 },
};

const unsigned int nr_ops = sizeof(ops) / sizeof(ops[0]);

static void run(struct world *world)
{
	const struct call *next;

	while (world->next < world->end) {
		next = &shared->input.call[world->next++];
		ops[next->op % nr_ops].run(world, next->arg);
	}
}

static void no_handler(int signo)
{
	(void)signo;
}

void begin(struct world *world)
{
	(void)signal(SIGUSR1, no_handler);
	(void)signal(SIGIO, no_handler);
	world->arena = make_arena();
	run(world);
	exit(0);
}
