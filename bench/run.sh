#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: bench/run.sh
#
# Measures perfctr beside perf_events, in instructions, in emulated machines in
# which an instruction is a nanosecond, and counters interrupt (boot.sh
# --patched): a table for each, and bench/results.json for all. The second machine
# can restrict cycle and instret to user mode. With PLOT=1 docs/fork-cost.svg is
# drawn anew.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
machines=$top/tests/machines

bench() {
	machine=$1
	shift
	"$machines/stage.sh" "$machine"
	rm -f "$top/build/out/$machine/results.json"
	"$machines/boot.sh" "$machine" --icount --patched --mem 2048 --timeout 3000 \
		/usr/bin/run-bench "$@"
}

parts='switches reads memory forks overflows'
[ "${PLOT-}" != 1 ] || parts="$parts crowds"
# shellcheck disable=SC2086 # words
bench riscv64-6.12 $parts
bench riscv64-smcntrpmf reads

# Both are arrays, with brackets on lines of their own.
{
	echo '['
	sed -e '/^[][]$/d' "$top/build/out/riscv64-6.12/results.json"
	echo ','
	sed -e '/^[][]$/d' "$top/build/out/riscv64-smcntrpmf/results.json"
	echo ']'
} > "$here/results.json"

[ "${PLOT-}" != 1 ] || "$here/plot.py" "$here/results.json" "$top/docs/fork-cost.svg"
