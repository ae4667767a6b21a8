// SPDX-License-Identifier: GPL-2.0
/*
 * Disassembles by objdump, which a user with a compiler has. elfutils' own disassembler knows few
 * processors, lacks the instructions of the last ten years, and has no public interface.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disassemble.h"
#include "memory.h"

/*
 * Adds an instruction if the line has one, as "1139:\tmov %edi,%eax". Other lines of objdump are
 * skipped.
 */
static void add_instruction(struct instructions *instructions, char *line)
{
	struct instruction *instruction;
	char *end, *p;
	uint64_t address = strtoull(line, &end, 16);

	if (end == line || strncmp(end, ":\t", 2) != 0)
		return;
	end += 2;
	end[strcspn(end, "\n")] = '\0';
	for (p = end; *p; p++)
		if (*p == '\t')
			*p = ' ';
	instructions->instruction = grow(instructions->instruction, instructions->n,
					 &instructions->capacity, sizeof(*instruction));
	instruction = &instructions->instruction[instructions->n++];
	instruction->address = address;
	instruction->text = copy_memory(end, strlen(end) + 1);
}

/*
 * Runs objdump without a shell, which might misread a path. Returns false if @program does not
 * exist.
 */
static bool run_objdump(struct instructions *instructions, const char *program, int file,
			uint64_t start, uint64_t end)
{
	char from[40], to[40], *line = NULL;
	/* objdump gets the opened file, since the path may lead to another file by now. */
	const char *argv[] = { program, "-d", "--no-show-raw-insn", from, to, "/proc/self/fd/3", NULL };
	posix_spawn_file_actions_t actions;
	size_t size = 0;
	int fds[2], error;
	pid_t pid;
	FILE *f;

	(void)snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, start);
	(void)snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, end);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, file, 3);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&pid, program, &actions, NULL, (char **)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	f = error ? NULL : fdopen(fds[0], "r");
	if (!f) {
		close(fds[0]);
		return false;
	}
	while (getline(&line, &size, f) >= 0)
		add_instruction(instructions, line);
	free(line);
	fclose(f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}

/* Returns the objdump of a cross compiler, for files of another architecture. */
static const char *cross_objdump(unsigned int machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64-linux-gnu-objdump";
	case EM_386:
		return "i686-linux-gnu-objdump";
	case EM_RISCV:
		return "riscv64-linux-gnu-objdump";
	case EM_AARCH64:
		return "aarch64-linux-gnu-objdump";
	case EM_PPC:
		return "powerpc-linux-gnu-objdump";
	default:
		return NULL;
	}
}

void disassemble(struct instructions *instructions, int file, unsigned int machine,
		 uint64_t start, uint64_t end)
{
	const char *cross = cross_objdump(machine);
	bool there;

	memset(instructions, 0, sizeof(*instructions));
	there = run_objdump(instructions, "objdump", file, start, end);
	if (!instructions->n && cross)
		there |= run_objdump(instructions, cross, file, start, end);
	if (!instructions->n)
		instructions->missing = there ?
			"objdump does not know this processor: here are addresses alone" :
			"objdump, which is in binutils, is not installed: here are addresses alone";
}

void instructions_free(struct instructions *instructions)
{
	size_t i;

	for (i = 0; i < instructions->n; i++)
		free(instructions->instruction[i].text);
	free(instructions->instruction);
}
