/* SPDX-License-Identifier: GPL-2.0 */
/* Where it begins, what comes back from faults and from user mode, and loops of known length */
#include "rules.h"

#define MAGIC	0x1badb002	/* of a multiboot header, without flags */

	.section .multiboot, "a"
	.align	4
	.long	MAGIC, 0, -MAGIC

	.text
	.globl	start
start:
	cli
	mov	$stack + STACK, %esp
	push	$0
	popf
	call	set_up
	lgdt	gdt_pointer
	lidt	idt_pointer
	ljmp	$CODE_0, $1f
1:	mov	$DATA_0, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %fs
	mov	%eax, %gs
	mov	%eax, %ss
	mov	$TASK, %eax
	ltr	%ax
	call	main
2:	hlt
	jmp	2b

/* A fault goes on where `recover` says, in the mode that it came from; `fault` says which it was. */
	.globl	on_ud, on_gp, on_user
on_gp:
	movl	$GP, fault
	add	$4, %esp	/* the error code */
	jmp	1f
on_ud:
	movl	$UD, fault
1:	push	%eax
	mov	recover, %eax
	mov	%eax, 4(%esp)
	pop	%eax
	iret

/* int in_user_mode(void (*code)(uint32_t arg), uint32_t arg): eax as it was at the end */
	.globl	in_user_mode
in_user_mode:
	push	%ebp
	push	%ebx
	push	%esi
	push	%edi
	mov	20(%esp), %edx
	mov	24(%esp), %ecx
	mov	%esp, back_to
	mov	%esp, task + 4
	mov	$DATA_3, %eax
	mov	%eax, %ds
	mov	%eax, %es
	push	$DATA_3
	push	$user_stack + STACK
	pushf
	push	$CODE_3
	push	%edx
	iret
on_user:
	mov	back_to, %esp
	push	%eax
	mov	$DATA_0, %eax
	mov	%eax, %ds
	mov	%eax, %es
	pop	%eax
	pop	%edi
	pop	%esi
	pop	%ebx
	pop	%ebp
	ret

/* The same in kernel mode: also by an interrupt, so that what is around the code is as long. */
	.globl	in_kernel_mode
in_kernel_mode:
	push	%ebp
	push	%ebx
	push	%esi
	push	%edi
	mov	20(%esp), %edx
	mov	24(%esp), %ecx
	mov	%esp, back_to
	pushf
	push	$CODE_0
	push	%edx
	iret

/* Two instructions in each of ecx turns, one of them a branch */
	.globl	loop
loop:
	dec	%ecx
	jnz	loop
	int	$GATE_USER

/* One instruction, of ecx iterations, which touches nothing else */
	.globl	string
string:
	mov	$somewhere, %esi
	rep lodsb
	int	$GATE_USER

/* RDPMC of ecx: eax is the lower half, or the fault */
	.globl	read_pmc
read_pmc:
	movl	$0, fault
	movl	$1f, recover
	rdpmc
	mov	%eax, pmc
	mov	%edx, pmc + 4
1:	mov	fault, %eax
	int	$GATE_USER

	.bss
	.align	16
stack:
	.skip	STACK
user_stack:
	.skip	STACK
somewhere:
	.skip	65536
	.globl	recover, fault, back_to, pmc
back_to:
	.skip	4
recover:
	.skip	4
fault:
	.skip	4
pmc:
	.skip	8
