// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: handles on the states of others, which are passed on. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/counting.h"

/* Handles on their way */

void op_pass(struct actor *actor)
{
	int fd = one_in(actor, 3) ? actor->foreign[below(actor, FOREIGN)] : actor->own;
	int err;

	if (fd < 0)
		return;
	err = send_fd(SEND_FD, fd);
	if (err && err != -EAGAIN && err != -ETOOMANYREFS)
		wrong(actor, "sendmsg: %s", strerror(-err));
	if (fd == actor->own)
		actor->shared_handle = true;
}

void op_receive(struct actor *actor)
{
	int fd = try_receive_fd(RECEIVE_FD, MSG_DONTWAIT);

	if (fd >= 0)
		keep_foreign(actor, fd);
}

/*
 * A handle on anybody's state, maybe the actor's own. The sums of a thread that has ended
 * stand still.
 */
void op_foreign(struct actor *actor)
{
	int fd = actor->foreign[below(actor, FOREIGN)];
	uint64_t words[1 + PERFCTR_MAX_CTRS];
	struct perfctr_control control;
	struct perfctr_read rd[2];
	const struct perfctr_page *page;
	int err;

	if (fd < 0)
		return;
	switch (below(actor, 6)) {
	case 0:
		err = try_read(fd, &rd[0]);
		if (!err || may_be_lost(err))
			err = try_read(fd, &rd[1]);
		if (may_be_lost(err))
			err = 0;
		if (err && err != -EINTR)
			wrong(actor, "READ of another: %s, error %u", strerror(-err), rd[0].error);
		if (!err && !(rd[0].flags & PERFCTR_READ_ATTACHED) &&
		    memcmp(rd[0].sum, rd[1].sum, sizeof(rd[0].sum)) != 0)
			wrong(actor, "the sums of a state that has ended changed");
		break;
	case 1:
		if (read(fd, words, sizeof(words)) < 0 && errno != EINTR && !may_be_lost(-errno))
			wrong(actor, "read(2) of another: %s", strerror(errno));
		break;
	case 2:
		control_init(&control);
		if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control))
			wrong(actor, "READ_CONTROL of another: %s", strerror(errno));
		break;
	case 3:
		page = try_map(fd);
		if (!page) {
			wrong(actor, "mmap of another: %s", strerror(errno));
			break;
		}
		(void)page_asks(page, 0);
		give_page(page);
		break;
	case 4:
		err = ioctl(fd, PERFCTR_IOC_SUSPEND) ? errno : 0;
		if (!err && actor->attached)
			(void)ioctl(fd, PERFCTR_IOC_RESUME);
		else if (err != EPERM && err != ESRCH)
			wrong(actor, "SUSPEND of another: %s", strerror(err));
		break;
	default:
		random_control(actor, &control);
		control_init(&control);
		control.tsc_on = below(actor, 2);
		err = actor_control(actor, fd, &control);
		/* The actor may have received a handle on its own state. */
		if (!err && actor->attached) {
			actor->shared_handle = true;
		} else if (err != -EPERM && err != -ESRCH && err != -EBUSY) {
			wrong(actor, "CONTROL of another: %s", strerror(-err));
		}
	}
}
