#!/bin/sh
# usage: all.sh
#
# Makes all that the emulated machines need (build roots, QEMU, the kernels that
# Debian has not) and builds for each of them what runs there. What is in the
# cache already is not made again. Of Intel's processors one stands for all.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/root.sh" full
"$here/root.sh" testing
"$here/root.sh" bookworm
"$here/qemu/build.sh" x86_64
"$here/qemu/build.sh" others
for kernel in ppc32 ppc32-plain ppc32-debug; do
	"$here/linux.sh" "$kernel"
done
for machine in riscv64-6.12 riscv64-testing arm64-6.12 x86_64-6.12 x86_64-testing x86_64-6.1 skylake-rt nehalem pentium3 \
	7450 7450-plain 7450-debug \
	riscv64-debug riscv64-rt icelake-debug icelake-kcsan; do
	"$here/stage.sh" "$machine"
done
