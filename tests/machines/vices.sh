#!/bin/sh
# usage: vices.sh [VICE...]
#
# Boots machines whose processors, firmware or hypervisors do what real ones do amiss, one
# after the other, and has tests/guest/suites/test_vices.c look what becomes of it: all, or those
# that are named. README.md says what each is.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

[ $# -gt 0 ] || set -- bare counts sandybridge icelake drop drop-beside drop-global fault filter \
	filter-beside filter-all cycles \
	freeze-2 freeze-4 firmware firmware-returns smi-select smi-global ht nehalem tfa late \
	slots vpmu version-2 rdpmc

# vice machine cpu [option...]
boot() {
	vice=$1 machine=$2 cpu=$3
	shift 3
	echo "perfctr: $vice"
	status=0
	# shellcheck disable=SC2086 # words
	tests/machines/boot.sh "$machine" --stage build/stage/skylake --timeout 120 \
		--cpu "$cpu" "$@" env VICE="$vice" ${REPORTS:+REPORTS=1} $beside \
		run-tests $subjects >"$log/$vice" 2>&1 || status=$?
	[ $status = 0 ] || grep -q '^not ok ' "$log/$vice" ||
		echo "not ok $vice: the machine ended with status $status" >>"$log/$vice"
	grep -v ' passed, ' "$log/$vice"
}

run() { # vice
	firmware=pmu-vice-reset=0x187/0x4300c0 subjects='selftest vices' beside=
	case $1 in
	*-beside) subjects=vices beside='BESIDE=0 WATCHDOG=y' ;;
	esac
	case $1 in
	# Nor a hypervisor
	bare) boot "$1" skylake hypervisor=off --icount ;;
	counts) boot "$1" skylake pmu-vice-interrupts=on,pmu-vice-bus-ratio=25 ;;
	# Of some models Linux warns that they lack mitigations against speculation.
	sandybridge)
		boot "$1" nehalem model=42,pmu-vice-constraints=0x48/0x4 \
			--append mitigations=off ;;
	icelake) boot "$1" icelake pmu-vice-constraints=0xd0-0xe6/0xf ;;
	drop | drop-beside) boot "$1" icelake pmu-vice-drop=0x188:0xc6:0x4c6 ;;
	drop-global) boot "$1" skylake pmu-vice-drop=0x38f ;;
	fault) boot "$1" skylake pmu-vice-fault=0x189:0x30b ;;
	filter | filter-beside)
		boot "$1" skylake pmu-vice-filter=0xc0,pmu-vice-filter-fixed=1 ;;
	filter-all)
		boot "$1" skylake pmu-vice-filter=0xc0:0xc4:0x3c:0x13c,pmu-vice-filter-fixed=7 ;;
	cycles)
		subjects=perfex
		boot "$1" zen4 pmu-vice-filter=0x76 ;;
	freeze-2) boot "$1" core2 pmu-vice-reset=0x1d9/0x1000 ;;
	freeze-4) boot "$1" skylake pmu-vice-reset=0x1d9/0x1000 ;;
	firmware) boot "$1" skylake $firmware ;;
	firmware-returns)
		boot "$1" skylake $firmware,pmu-vice-rewrite=0x187/0x4300c0/20000 ;;
	smi-select) boot "$1" skylake pmu-vice-rewrite=0x186/0x1234/30000 ;;
	smi-global) boot "$1" skylake pmu-vice-rewrite=0x38f/0/30000 ;;
	ht)
		boot "$1" nehalem model=42,pmu-vice-ht=on --append mitigations=off \
			--smp 2,threads=2 ;;
	nehalem) boot "$1" nehalem pmu-vice-nehalem=on ;;
	tfa) boot "$1" skylake level=13,pmu-vice-tfa=on ;;
	late) boot "$1" icelake pmu-vice-skid=3000 ;;
	slots) boot "$1" icelake pmu-fixed-counters=4 ;;
	# Where version 2 has no fixed counters Linux 6.12 takes it for 64 of them.
	vpmu) boot "$1" skylake hypervisor=on,pmu-version=1,pmu-counters=2 ;;
	version-2) boot "$1" skylake hypervisor=on,pmu-version=2 ;;
	rdpmc) boot "$1" skylake hypervisor=on,pmu-vice-rdpmc=on ;;
	*)
		echo "no vice '$1'" >&2
		return 2 ;;
	esac
}

# All have one kernel and the same programs.
tests/machines/stage.sh skylake
log=build/log/vices
rm -rf $log
mkdir -p $log
for vice; do
	run "$vice"
done
passed=$(cat $log/* | grep -c '^ok ' || :)
failed=$(cat $log/* | grep -c '^not ok ' || :)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
