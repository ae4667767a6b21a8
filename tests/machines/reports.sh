#!/bin/sh
# usage: reports.sh [MACHINE-smpN[-VICE]...]
#
# Writes the texts in tests/guest/reports anew, which perfex selftest is compared with there:
# of all machines, or of these. Look at what git says has changed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

reports=tests/guest/reports
mkdir -p $reports
[ $# -gt 0 ] || set -- icelake-smp2 skylake-smp2 nehalem-smp2 core2-smp2 core-smp2 p6-smp2 \
	pentium3-smp2 hybrid-smp2 icelake-topdown-smp2 sapphirerapids-smp2 \
	riscv64-6.12-smp2 riscv64-smcntrpmf-smp1 riscv64-nopmu-smp1 arm64-6.12-smp2 \
	x86_64-6.12-smp2 p5mmx-smp1 c6-smp1 7450-smp1 7400-smp1 604e-smp1 skylake-smp1-counts skylake-smp1-filter icelake-smp1-drop \
	skylake-smp1-tfa icelake-smp1-slots
for name; do
	machine=${name%%-smp*}
	smp=${name##*-smp}
	rm -f "build/out/$machine/report-"*
	case $smp in
	*-*)
		REPORTS=1 tests/machines/vices.sh "${smp#*-}" ;;
	*)
		# As the parts of check.sh that compare them
		icount='' source=''
		case $machine in
		riscv64-* | 6?? | 6??e | 7???) icount=--icount ;;
		arm64-*) icount='--icount --patched' source=SOURCE=shared ;;
		esac
		tests/machines/stage.sh "$machine"
		# shellcheck disable=SC2086 # words
		tests/machines/boot.sh "$machine" $icount --smp "$smp" --timeout 1200 \
			env REPORTS=1 $source run-tests selftest ;;
	esac
	for file in "build/out/$machine/report-"*; do
		cp "$file" "$reports/${file##*/report-}"
	done
done
