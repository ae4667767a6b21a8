#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: bench/run.sh [MACHINE...]
#
# Measures perfctr beside perf_events, in instructions, in emulated machines in
# which an instruction takes a nanosecond and counters interrupt (boot.sh
# --patched). Prints a table for each named machine, or for all machines, and writes
# bench/results.json. On x86, writes to registers are counted as well, since they take
# long on real hardware. riscv64-smcntrpmf can restrict cycle and instret to user
# mode. icelake-watchdog is icelake with the NMI watchdog, so perf_events has a counter
# all the time. PLOT=1 draws docs/fork-cost.svg anew. Figures that are worse than those in
# bench/figures.txt are marked, and listed at the end. KEEP=1 writes the new figures
# to that file.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
machines=$top/tests/machines

[ $# != 0 ] || set -- riscv64-6.12 riscv64-smcntrpmf p6 p4m3 p4m3-5.10 core2 icelake icelake-watchdog zen2 zen4 arm64-6.12 7450
# What was measured in a row's machine
results() { # row
	echo "$top/build/out/${1%-watchdog}/$1.json"
}

for row; do
	mem=6144
	machine=${row%-watchdog}
	watchdog=n
	case $row in
	*-watchdog)
		watchdog=y
		parts='switches reads overflows beside' ;;
	riscv64-smcntrpmf) parts=reads ;;
	# zen2 has no global control. zen4 has one, and switches as icelake does.
	icelake-topdown | zen2) parts='switches reads' ;;
	zen4) parts='switches reads overflows shared' ;;
	riscv64-*)
		parts='switches reads memory forks overflows records controls trees shared'
		[ "${PLOT-}" != 1 ] || parts="$parts crowds" ;;
	# This machine has only perf's counters.
	arm64-*) parts=shared ;;
	# On this kernel perf counts a Pentium 4's events right, but the module does not support it.
	*-5.10) parts=perf-alone ;;
	p4m3) parts='switches reads overflows controls' ;;
	p6 | core2) parts='switches reads memory forks overflows records controls trees' ;;
	# The kernel uses the rest of the address space for stacks.
	7450)
		mem=512
		parts='switches reads memory forks overflows records controls trees' ;;
	*) parts='switches reads memory forks overflows records controls trees shared' ;;
	esac
	echo "perfctr: $row"
	"$machines/stage.sh" "$machine"
	rm -f "$(results "$row")"
	# shellcheck disable=SC2086 # words
	"$machines/boot.sh" "$machine" --icount --patched --mem $mem --timeout 3000 \
		env WATCHDOG=$watchdog /usr/bin/run-bench $parts
	[ "$row" = icelake ] || continue
	echo "An empty region, per language, in instructions: name, events, cost"
	"$top/tests/languages/stage.sh"
	"$machines/boot.sh" icelake --icount --patched --mem 1024 --timeout 600 \
		--stage /src/build/stage/languages /usr/libexec/perfctr/run-regions
done

# The results of each row are an array, with its brackets on lines of their own.
{
	echo '['
	comma=''
	for row; do
		[ -z "$comma" ] || echo ','
		comma=y
		sed -e '/^[][]$/d' "$(results "$row")"
	done
	echo ']'
} > "$here/results.json"

# Writes the figures to figures.txt. Rows of PLOT=1 are left out, since most runs do not have them.
keep() {
	kept=$here/figures.txt
	for row; do
		sed -i "/^$row /d" "$kept"
		sed -n '/_among"/d
			s/.*"metric": "\([^"]*\)", "counters": \([0-9]*\), "perfctr": \([0-9.-]*\),.*"tolerance": \([0-9.]*\), "unit": "\([^"]*\)".*/'"$row"' \1 \2 \3 \5 \4/p' \
			"$(results "$row")" >>"$kept"
	done
	{ grep '^#' "$kept"; grep -v '^#' "$kept" | sort -s -k 1,1; } >"$kept.new"
	mv "$kept.new" "$kept"
}

if [ "${KEEP-}" = 1 ]; then
	keep "$@"
	echo "kept in bench/figures.txt: see git diff"
elif grep -q '"worse": true' "$here/results.json"; then
	echo "Worse than kept in bench/figures.txt, of all machines:"
	sed -n '/"worse": true/s/.*"machine": "\([^"]*\)", "metric": "\([^"]*\)", "counters": \([0-9]*\), "perfctr": \([a-z0-9.-]*\),.*/\1 \2 \3: \4/p' \
		"$here/results.json"
fi

[ "${PLOT-}" != 1 ] || "$here/plot.py" "$here/results.json" "$top/docs/fork-cost.svg"
