// SPDX-License-Identifier: GPL-2.0
/*
 * waiter FILE: makes the file, and waits for a signal that ends it. It makes the file itself, since
 * a shell that did it and then executed another program might catch the signal in between:
 * busybox's does, and forgets it.
 */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 2 || close(open(argv[1], O_WRONLY | O_CREAT, 0600)))
		return 101;
	for (;;)
		pause();
}
