#!/bin/sh
# usage: demo.sh
#
# Runs a real program under real counters in an emulated RISC-V machine, and, in
# a terminal and unless SHELL_IN_GUEST=0, gives a shell there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
machine=riscv64-6.12

"$here/stage.sh" $machine
shell=''
if [ -t 0 ] && [ -t 1 ] && [ "${SHELL_IN_GUEST-}" != 0 ]; then
	shell=--shell
fi
echo "perfctr: booting Debian's riscv64 kernel in QEMU" >&2
# shellcheck disable=SC2086 # none or one word
exec "$here/boot.sh" $machine --icount $shell /usr/bin/demo
