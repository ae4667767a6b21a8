/* SPDX-License-Identifier: GPL-2.0 */
/* A session is an open file that counts CPUs. */
#ifndef PERFCTR_SESSION_H
#define PERFCTR_SESSION_H

#include <linux/types.h>

struct perfctr_session;

int perfctr_session_init(void);
void perfctr_session_exit(void);
/* Returns a new session, to which an open file will refer, or -EACCES or -ENOMEM. */
struct perfctr_session *perfctr_session_create(void);
/* Stops the session, and frees it with its wides. */
void perfctr_session_free(struct perfctr_session *session);
long perfctr_session_ioctl(struct perfctr_session *session, unsigned int cmd, void __user *arg);

#endif /* PERFCTR_SESSION_H */
