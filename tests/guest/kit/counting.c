// SPDX-License-Identifier: GPL-2.0
/* The raw ABI for the tests; see counting.h. */
#define _GNU_SOURCE
#include "kit/counting.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"

int try_open(unsigned int flags)
{
	struct perfctr_open arg = { .size = sizeof(arg), .flags = flags };
	int fd, err;

	fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERFCTR_IOC_OPEN, &arg))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int try_control(int fd, struct perfctr_control *control)
{
	return ioctl(fd, PERFCTR_IOC_CONTROL, control) ? -errno : 0;
}

int try_read(int fd, struct perfctr_read *rd)
{
	memset(rd, 0, sizeof(*rd));
	rd->size = sizeof(*rd);
	return ioctl(fd, PERFCTR_IOC_READ, rd) ? -errno : 0;
}

int try_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->size = sizeof(*tree);
	tree->which = which;
	return ioctl(fd, PERFCTR_IOC_READ_TREE, tree) ? -errno : 0;
}

const struct perfctr_page *try_map(int fd)
{
	void *page;

	page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

void control_init(struct perfctr_control *control)
{
	*control = (struct perfctr_control){ PERFCTR_CONTROL_INIT };
	if (guest.shared)
		control->source = PERFCTR_SOURCE_SHARED;
}

#if defined(__x86_64__) || defined(__i386__)

#define PENTIUM_USER	0x80u

/*
 * The Pentium's, its clones' and the C3's. Where not both counters have an event for cycles it is clocks
 * in which there is an instruction. Loads and stores miss the same data TLB; of what is not
 * counted there is something else.
 */
static const struct {
	unsigned int cpu_type;
	uint64_t cycles, instructions, loads, stores, fetches;
} pentiums[] = {
	{ PERFCTR_X86_INTEL_P5, 0x116, 0x16, 0x02, 0x12, 0x0d },
	{ PERFCTR_X86_INTEL_P5MMX, 0x116, 0x16, 0x02, 0x12, 0x0d },
	{ PERFCTR_X86_CYRIX_MII, 0x116, 0x16, 0x02, 0x12, 0x0d },
	{ PERFCTR_X86_WINCHIP_C6, 0x00, 0x02, 0x47, 0x4a, 0x63 },
	{ PERFCTR_X86_WINCHIP_2, 0x3f, 0x16, 0x02, 0x04, 0x0d },
	{ PERFCTR_X86_VIA_C3, 0x79, 0xc0, 0x80, 0x81, 0x83 },
};

static uint64_t pentium_event(unsigned int i, uint64_t event)
{
	switch (event) {
	case EV_CYCLES: return pentiums[i].cycles;
	case EV_INSTRUCTIONS: return pentiums[i].instructions;
	case EV_DTLB_LOAD_MISSES: return pentiums[i].loads;
	case EV_DTLB_STORE_MISSES: return pentiums[i].stores;
	case EV_ITLB_LOAD_MISSES: return pentiums[i].fetches;
	default: return event;
	}
}

#define P4_EVENT(block, select, event, mask) \
	(uint64_t)(block) << 32 | (select) << 13, (uint64_t)(event) << 25 | (mask) << 9

/* Of a Pentium 4, whose ESCRs are those of the manual's tables of events */
static const struct p4_event {
	uint64_t event, cccr, escr;
} p4_events[] = {
	/* global_power_events, running; instr_retired, not tagged and not bogus */
	{ EV_CYCLES, P4_EVENT(1, 6, 0x13, 1) },
	{ EV_INSTRUCTIONS, P4_EVENT(4, 4, 2, 1) },
	/* page_walk_type, DTMISS; ITLB_reference, miss; the one of stores alone takes tags. */
	{ EV_DTLB_LOAD_MISSES, P4_EVENT(1, 4, 1, 1) },
	{ EV_DTLB_STORE_MISSES, P4_EVENT(1, 3, 0x18, 2) },
	{ EV_ITLB_LOAD_MISSES, P4_EVENT(2, 2, 4, 0x1e) },
	/* No ESCR is selected by that. */
	{ 0, P4_EVENT(4, 7, 0, 0) },
};

static const struct p4_event *p4_find(uint64_t event)
{
	const struct p4_event *found = p4_events;

	while (found->event && found->event != event)
		found++;
	return found;
}

uint64_t own_event(uint64_t event)
{
	unsigned int i;

	if (is_p4())
		return p4_find(event)->cccr;
	for (i = 0; i < sizeof(pentiums) / sizeof(pentiums[0]); i++)
		if (guest.info.cpu_type == pentiums[i].cpu_type)
			return pentium_event(i, event);
	return event == EV_CYCLES ? x86_cycles : event;
}

unsigned int own_evntsel(uint64_t event)
{
	if (is_p4())
		return (unsigned int)own_event(event) | 1u << 12 | 3u << 16;
	if (!is_pentium())
		return (unsigned int)own_event(event) | 1u << 16 | 1u << 22;
	return (unsigned int)own_event(event) | (is_modeless() ? 0 : PENTIUM_USER);
}

unsigned int evntsel_interrupt(void)
{
	return is_p4() ? 1u << 26 : 1u << 20;
}

uint64_t own_config(uint64_t event)
{
	return is_p4() ? p4_find(event)->escr : 0;
}

#else

uint64_t own_config(uint64_t event)
{
	(void)event;
	return 0;
}

uint64_t own_event(uint64_t event)
{
	return event;
}

#endif

static void set_event(struct perfctr_ctr_control *ctr, uint64_t event)
{
	ctr->event = own_event(event);
	ctr->config = own_config(event);
}

void control_add_at(struct perfctr_control *control, uint32_t map, uint64_t event, uint32_t flags)
{
	struct perfctr_ctr_control *ctr = &control->ctr[control->nractrs++];

	ctr->map = map;
	set_event(ctr, event);
	ctr->flags = flags;
}

uint32_t general_map(unsigned int i)
{
	uint32_t general = (uint32_t)guest.info.counters & 0xffffff;

	if (!is_beside())
		return PERFCTR_MAP_ANY;
	for (; i; i--)
		general &= general - 1;
	return (uint32_t)__builtin_ctz(general);
}

void control_add(struct perfctr_control *control, uint64_t event)
{
	control_add_at(control, PERFCTR_MAP_ANY, event, PERFCTR_CTR_USER);
}

void control_add_ictr(struct perfctr_control *control, uint64_t event, int64_t ireset)
{
	struct perfctr_ctr_control *ctr = &control->ctr[control->nractrs + control->nrictrs++];

	ctr->map = PERFCTR_MAP_ANY;
	set_event(ctr, event);
	ctr->flags = PERFCTR_CTR_USER;
	ctr->ireset = ireset;
}

int open_device(void)
{
	int fd;

	ck_ok(fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC));
	return fd;
}

int open_self(void)
{
	int fd = try_open(PERFCTR_OPEN_CREAT);

	ck_assert_msg(fd >= 0, "OPEN: %s", strerror(-fd));
	return fd;
}

void set_control(int fd, struct perfctr_control *control)
{
	int err = try_control(fd, control);

	ck_assert_msg(!err, "CONTROL: %s", strerror(-err));
}

int count_event(uint64_t event)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, event);
	set_control(fd, &control);
	return fd;
}

void read_all(int fd, struct perfctr_read *rd)
{
	int err = try_read(fd, rd);

	ck_assert_msg(!err, "READ: %s", strerror(-err));
}

uint64_t read_sum(int fd, unsigned int i)
{
	struct perfctr_read rd;

	read_all(fd, &rd);
	ck_assert_uint_lt(i, rd.nrctrs);
	return rd.sum[i];
}

uint64_t read_clock(int fd)
{
	struct perfctr_read rd;

	read_all(fd, &rd);
	return rd.clock;
}

void unlink_self(int fd)
{
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
}

const struct perfctr_page *map_page(int fd)
{
	const struct perfctr_page *page = try_map(fd);

	ck_assert_msg(page != NULL, "mmap: %s", strerror(errno));
	return page;
}

void unmap_page(const struct perfctr_page *page)
{
	ck_ok(munmap((void *)(uintptr_t)page, PAGE_SIZE));
}

bool page_asks(const struct perfctr_page *page, unsigned int i)
{
	const volatile struct perfctr_page *now = page;
	uint64_t owner;
	int32_t seq;

	do {
		seq = now->seq;
		if (seq < 0)
			return true;
		owner = now->slot[now->map[i] / sizeof(struct perfctr_page_slot)].owner;
	} while (now->seq != seq);
	return owner != thread_pointer();
}

int send_fd(int sock, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	char byte = 'h';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.buf,
		.msg_controllen = sizeof(ctl.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	memset(&ctl, 0, sizeof(ctl));
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

int try_receive_fd(int sock, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.buf,
		.msg_controllen = sizeof(ctl.buf),
	};
	struct cmsghdr *cmsg;
	ssize_t got;
	int fd;

	got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags);
	if (got != 1)
		return got < 0 ? -errno : -EBADF;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -EBADF;	/* or the table of open files is full */
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

int receive_fd(int sock)
{
	int fd = try_receive_fd(sock, 0);

	ck_assert_msg(fd >= 0, "receive_fd: %s", strerror(-fd));
	return fd;
}
