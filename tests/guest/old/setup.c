/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs have in common */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "old/old.h"

volatile unsigned long one = 1, some = 5001, many = 10001;

void fail(const char *what)
{
	perror(what);
	exit(1);
}

#if defined(__x86_64__) || defined(__i386__)

#define USR	0x00010000
#define INT	0x00100000
#define ENABLE	0x00400000

/* P5: a half of the CESR */
#define CESR_USR	0x80
#define P5_INSTRUCTIONS	0x16

/* P4: instr_retired, by CRU_ESCR0, on counter 12 and up */
#define CCCR_ENABLE	0x00001000
#define CCCR_CRU	(4 << 13)
#define CCCR_ANY	(3 << 16)
#define CCCR_PMI	0x04000000
#define ESCR_USR	0x4
#define ESCR_RETIRED	(0x02 << 25 | 0x3 << 9)
#define FIRST_IQ	12
#define FAST_RDPMC	0x80000000

static void set_p4(struct perfctr_cpu_control *control, unsigned i, unsigned period)
{
	control->pmc_map[i] = (FIRST_IQ + i) | FAST_RDPMC;
	control->evntsel[i] = CCCR_ENABLE | CCCR_CRU | CCCR_ANY | (period ? CCCR_PMI : 0);
	control->p4.escr[i] = ESCR_RETIRED | ESCR_USR;
	control->p4.pebs_enable = 0;
	control->p4.pebs_matrix_vert = 0;
	control->ireset[i] = -(int)period;
}

int set_instructions(unsigned cpu_type, struct perfctr_cpu_control *control, unsigned i,
		     unsigned period)
{
	unsigned evntsel = 0xC0 | USR | (period ? INT : 0);

	switch (cpu_type) {
	case PERFCTR_X86_INTEL_P5:
	case PERFCTR_X86_INTEL_P5MMX:
	case PERFCTR_X86_CYRIX_MII:
		if (period)
			return -1;
		evntsel = P5_INSTRUCTIONS | CESR_USR;
		break;
	case PERFCTR_X86_INTEL_P4:
	case PERFCTR_X86_INTEL_P4M2:
	case PERFCTR_X86_INTEL_P4M3:
		set_p4(control, i, period);
		return 0;
	case PERFCTR_X86_INTEL_P6:
	case PERFCTR_X86_INTEL_PII:
	case PERFCTR_X86_INTEL_PIII:
	case PERFCTR_X86_INTEL_PENTM:
		if (i == 0)
			evntsel |= ENABLE;
		break;
	case PERFCTR_X86_AMD_FAM10H:
		/* There alone 2.6 looked at it. */
		control->evntsel_high[i] = 0;
		evntsel |= ENABLE;
		break;
	case PERFCTR_X86_AMD_K7:
	case PERFCTR_X86_AMD_K8:
	case PERFCTR_X86_AMD_K8C:
	case PERFCTR_X86_INTEL_CORE:
	case PERFCTR_X86_INTEL_CORE2:
	case PERFCTR_X86_INTEL_ATOM:
	case PERFCTR_X86_INTEL_NHLM:
	case PERFCTR_X86_INTEL_WSTMR:
		evntsel |= ENABLE;
		break;
	default:
		return -1;
	}
	control->pmc_map[i] = i;
	control->evntsel[i] = evntsel;
	control->ireset[i] = -(int)period;
	return 0;
}

#elif defined(__powerpc__)

#define FCS	0x40000000	/* not in supervisor mode */
#define PMXE	0x04000000
#define PMC1CE	0x00008000

int set_instructions(unsigned cpu_type, struct perfctr_cpu_control *control, unsigned i,
		     unsigned period)
{
	if (cpu_type < PERFCTR_PPC_604 || cpu_type > PERFCTR_PPC_7450)
		return -1;
	control->pmc_map[i] = i;
	control->evntsel[i] = 2;
	control->ireset[i] = period ? (int)(0x80000000U - period) : 0;
	control->ppc.mmcr0 = FCS | (period ? PMXE | PMC1CE : 0);
	control->ppc.mmcr2 = 0;
	return 0;
}

#elif defined(__aarch64__)

/* 2.6 had no such processors, but its programs are built for them: INST_RETIRED */
int set_instructions(unsigned cpu_type, struct perfctr_cpu_control *control, unsigned i,
		     unsigned period)
{
	if (cpu_type != PERFCTR_ARM64_GENERIC)
		return -1;
	control->pmc_map[i] = PERFCTR_MAP_ANY;
	control->evntsel[i] = 8;
	control->ireset[i] = -(int)period;
	control->arm64.mode[i] = 0;
	control->arm64.config[i] = 0;
	return 0;
}

#else

/* Likewise: the SBI's event of instructions, on hpmcounter3 and up */
int set_instructions(unsigned cpu_type, struct perfctr_cpu_control *control, unsigned i,
		     unsigned period)
{
	if (cpu_type != PERFCTR_RISCV_SBI)
		return -1;
	control->pmc_map[i] = 3 + i;
	control->evntsel[i] = 2;
	control->ireset[i] = -(int)period;
	control->riscv.mode[i] = 0;
	control->riscv.event_data[i] = 0;
	return 0;
}

#endif

static void set_message(struct msghdr *msg, struct iovec *iov, char *byte, char *space, size_t size)
{
	memset(msg, 0, sizeof(*msg));
	memset(space, 0, size);
	*byte = 0;
	iov->iov_base = byte;
	iov->iov_len = 1;
	msg->msg_iov = iov;
	msg->msg_iovlen = 1;
	msg->msg_control = space;
	msg->msg_controllen = size;
}

void send_handle(int sock, int fd)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct cmsghdr *cmsg;
	struct msghdr msg;
	struct iovec iov;

	set_message(&msg, &iov, &byte, space, sizeof(space));
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) != 1)
		fail("sendmsg");
}

int receive_handle(int sock)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct cmsghdr *cmsg;
	struct msghdr msg;
	struct iovec iov;
	int fd;

	set_message(&msg, &iov, &byte, space, sizeof(space));
	if (recvmsg(sock, &msg, 0) != 1)
		fail("recvmsg");
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}
