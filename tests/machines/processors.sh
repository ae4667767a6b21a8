#!/bin/sh
# usage: processors.sh [MACHINE...]
#
# Has Linux's own drivers count on the emulated processors that are ours, and
# compares with what is executed (tests/guest/witness/machine*_*.c). What was
# expected and what was counted is in build/log/processors.md afterwards, as a
# table for each kernel; docs/machines.md has them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

if [ $# = 0 ]; then
	for kernel in '' -testing -6.1; do
		for processor in p6 core core2 nehalem skylake icelake icelake-topdown \
			sapphirerapids k8 fam10h fam15h zen2 zen4; do
			set -- "$@" "$processor$kernel"
		done
	done
	set -- "$@" pentium3 k7 7450
fi

log=build/log/processors
rm -rf $log
mkdir -p $log
status=0
for machine; do
	tests/machines/stage.sh "$machine"
	echo "perfctr: $machine"
	smp='--smp 2'
	# Linux warns of two Athlons that they were not sold for that.
	case $machine in k7 | 7450) smp=--icount ;; esac
	# shellcheck disable=SC2086 # words
	tests/machines/boot.sh "$machine" $smp --timeout 120 \
		sh -c 'dmesg | grep -E "Performance Events|core: .*PMU|performance monitor"
			run-tests selftest machine' \
		>"$log/$machine" 2>&1 || status=1
	# Their counts are added up below.
	grep -v -e '^|' -e ' passed, ' "$log/$machine"
done

# Whose kernel: one column for each machine
table() { # machine...
	[ -e "$1" ] || return 0
	awk '
	FNR == 1 { n++; name[n] = FILENAME; sub(".*/", "", name[n]) }
	/^\| / && !/ expected \| counted / && !/^\| ---/ {
		split($0, cell, / *\| */)
		key = cell[2] " | " cell[3] " | " cell[4]
		if (cell[4] ~ / to /) # of this run alone
			key = cell[2] " | " cell[3] " | as /proc/interrupts"
		if (!(key in seen)) {
			seen[key] = 1
			order[++rows] = key
		}
		count[key, n] = cell[5]
	}
	END {
		line = "| what happens | event | expected |"
		rule = "| --- | --- | --- |"
		for (i = 1; i <= n; i++) {
			line = line " " name[i] " |"
			rule = rule " --- |"
		}
		print line
		print rule
		for (r = 1; r <= rows; r++) {
			line = "| " order[r] " |"
			for (i = 1; i <= n; i++)
				line = line " " ((order[r], i) in count ? count[order[r], i] : "-") " |"
			print line
		}
		print ""
	}' "$@"
}
# The kernel is the end of the name, or 6.12; but that of pentium3 and of k7 is i386's, and
# the code that they execute as well. AMD's names begin with other letters than Intel's.
(cd $log && table ./[!7kfz]*[!13g] && table ./[!7kfz]*-testing && table ./[!7kfz]*-6.1 &&
	table ./[kfz]*[!17g] && table ./[kfz]*-testing && table ./[kfz]*-6.1 &&
	table ./pentium3 && table ./k7 && table ./7450) >$log.md

passed=$(cat "$log"/* | grep -c '^ok ' || :)
failed=$(cat "$log"/* | grep -c '^not ok ' || :)
echo "$passed passed, $failed failed"
[ $status = 0 ] && [ "$failed" = 0 ]
