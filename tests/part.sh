#!/bin/sh
# usage: part.sh PART[:TEST]
#
# Runs one part of the checks, for check.py, which says how it went. tests/parts has them all.
# TEST is one of the tests of the guest suite, or subjects: guest-skylake-smp2:exact.alone,
# guest-skylake-smp2:exact,hold; of unit all that begin like it: unit:x86_check, unit:engine_riscv, and unit:lib,
# unit:report; a check of lint; a machine of p4; or a vice.
#
# root-ROOT, qemu-WHAT, linux-KERNEL and stage-MACHINE only make what others need.
# guest-MACHINE[-smpN] is the guest suite there, on one processor or two: those subjects that the
# machine is there for; more-MACHINE are the others, full-guest-MACHINE is all. shared-MACHINE is
# as much of it as counts through perf, and tracepoint-MACHINE with switches seen by the tracepoint.
# shared-PART, tracepoint-PART and tracepoint-shared-PART are all of a PART that is guest-...,
# stress-... or debug-..., in that way. full-PART has all subjects.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
cd "$top"
log=build/log
mkdir -p $log

# One test of the part, or its beginning
only=''

# What the part's job is run by, in the guest
way=''
full=''

# What differs between kernels
core='abi preserve handle hold exact inherit rdpmc overflow'

# What notices most in the least time, and the rest of the suite
first='abi preserve handle hold exact pairs behaviours reader inherit guarded rdpmc overflow lib meter manual
	examples old perfex tracee attach record'
more='selftest width sharing noise measure vices burden cpus extra modeless topdown'

# Boots a machine, where the given subjects run, or what is asked for: a subject, or SUBJECT.TEST
run_tests() { # "MACHINE [OPTION...]" [SUBJECT...]
	options=$1
	shift
	case $only in
	'') ;;
	*.*)
		way="${way:-env} TESTS=${only#*.}"
		set -- "${only%%.*}" ;;
	*)
		# shellcheck disable=SC2046 # words
		set -- $(echo "$only" | tr , ' ') ;;
	esac
	# shellcheck disable=SC2086 # words
	tests/machines/boot.sh $options --timeout 1800 $way /usr/bin/run-tests "$@"
}

# make in tests/unit, or a directory there. Another part may be building the same.
unit() { # TARGET [DIRECTORY [VARIABLE=VALUE]]
	target=$1 dir=${2-}
	shift
	[ $# = 0 ] || shift
	mkdir -p build/unit
	flock build/unit/.lock tests/machines/inroot make -s -j2 -C "tests/unit/$dir" \
		"O=/src/build/unit/$dir" "$@" "$target"
}

# Sets machine and smp, and builds for it.
machine_of() { # MACHINE[-smpN]
	smp=${1##*-smp}
	[ "$smp" != "$1" ] || smp=1
	machine=${1%-smp*}
	tests/machines/stage.sh "$machine"
}

run_part() { # name
	case $1 in
	tracepoint-shared-* | tracepoint-guest-* | tracepoint-stress-* | tracepoint-debug-*)
		way='env PARAMS=by_tracepoint=1'
		run_part "${1#tracepoint-}" ;;
	shared-guest-* | shared-stress-* | shared-debug-*)
		way="$way env SOURCE=shared"
		run_part "${1#shared-}" ;;
	full-*)
		full=y
		run_part "${1#full-}" ;;
	root-*)
		tests/machines/root.sh "${1#root-}" ;;
	qemu-*)
		tests/machines/qemu/build.sh "${1#qemu-}" ;;
	linux-*)
		tests/machines/linux.sh "${1#linux-}" ;;
	stage-*)
		tests/machines/stage.sh "${1#stage-}" ;;
	quick)
		# shellcheck disable=SC2086 # one word or none
		tests/lint.sh ${only:-quick} ;;
	lint)
		# What quick has not. Probes are written once for all architectures, and so is what
		# clang-tidy reads: of others only PowerPC has files of its own.
		# shellcheck disable=SC2086 # words
		tests/lint.sh ${only:-kernel compilers probes-x86_64 tidy-x86_64 tidy-ppc32 abi} ;;
	lint-all)
		tests/lint.sh ;;
	unit)
		case $only in
		'')
			unit all
			tests/machines/inroot make -s -C tests/unit O=/src/build/unit check ;;
		lib) unit check-lib ;;
		report) unit check report ;;
		# Of the drivers: a program, or its tests whose names begin like that
		*)
			case $only in
			engine_*) program=${only%%.*} ;;
			*) program=test_${only%%[_.]*} ;;
			esac
			unit "/src/build/unit/driver/$program" driver
			UNIT_ONLY=$only tests/machines/inroot -e UNIT_ONLY "/src/build/unit/driver/$program" ;;
		esac ;;
	engine)
		# Other sequences than unit's
		for seed in 2 3 4; do
			for arch in x86 riscv ppc32; do
				unit "/src/build/unit/driver/engine_$arch" driver
				ENGINE_SEED=$seed tests/machines/inroot -e ENGINE_SEED \
					"/src/build/unit/driver/engine_$arch"
			done
		done ;;
	events)
		# The library's tables of events against libpfm4's encoding
		unit check-tables '' "LIBPFM4=/src/$(tests/machines/libpfm4.sh)"
		# The driver's knowledge of Intel's models against Linux's
		trixie=$(tests/machines/linux-pmu.sh trixie)
		testing=$(tests/machines/linux-pmu.sh testing)
		unit check-linux driver "LINUX=/src/$trixie /src/$testing"
		# What counting beside perf relies on
		python3 tests/unit/driver/linux/functions.py "$trixie" "$testing" ;;
	fuzz-report)
		# For a minute, or FUZZ_SECONDS; in full-fuzz-report for ten
		[ -z "$full" ] || export FUZZ_SECONDS="${FUZZ_SECONDS-600}"
		tests/machines/inroot -r full -e FUZZ_SECONDS make -s -C tests/unit/report \
			O=/src/build/fuzz-report fuzz
		echo "1 passed, 0 failed" ;;
	fuzz-*)
		# For half an hour, or FUZZ_SECONDS, on two CPUs that really execute at the same time
		machine=${1#fuzz-}
		export REACH=y
		tests/machines/stage.sh "$machine"
		seconds=${FUZZ_SECONDS-1800}
		for try in 1 2 3; do
			status=0
			# shellcheck disable=SC2016,SC2086 # for the guest's shell; words
			tests/machines/boot.sh "$machine" --parallel --smp 2 --timeout $((600 + 2 * seconds)) \
				--append slab_nomerge $way sh -c 'run-debug fuzz "$@" -o /tmp/kept; status=$?
				putfile fuzz.kept /tmp/kept; exit $status' fuzz -s "$(date +%s)" -t "$seconds" || status=$?
			[ "$status" = 97 ] || return "$status"
			echo "try $try ended by a fault of QEMU's"
		done
		return "$status" ;;
	coverage)
		tests/coverage.sh ;;
	dkms)
		tests/machines/dkms.sh ;;
	install)
		tests/install.sh ;;
	packages-dist)
		# The archive of a release passes what needs no machine, without git.
		archive=$(make -s dist | sed -n '$s/.* //p')
		rm -rf build/dist/check
		mkdir build/dist/check
		tar -C build/dist/check -xf "build/dist/$archive"
		(cd "build/dist/check/${archive%.tar.xz}" && tests/part.sh quick && tests/part.sh unit:lib)
		rm -rf build/dist/check ;;
	packages-others)
		tests/packages/others.sh ;;
	packages-*)
		tests/packages/debian.sh "${1#packages-}" ;;
	languages)
		tests/languages/stage.sh
		tests/machines/boot.sh icelake --icount --smp 2 --mem 1024 --timeout 600 \
			--stage /src/build/stage/languages /usr/libexec/perfctr/run-languages ;;
	noise)
		tests/machines/stage.sh icelake
		# Only where it counts too many is anything corrected.
		vice=pmu-vice-interrupts=on filter=pmu-vice-filter=0x1cb
		tests/machines/boot.sh icelake --smp 2 --cpu $vice \
			env NOISE=interrupts /usr/bin/run-tests noise
		tests/machines/boot.sh icelake --cpu $filter \
			env NOISE=filtered /usr/bin/run-tests noise
		tests/machines/boot.sh icelake --cpu $vice,$filter \
			env NOISE=unexplained /usr/bin/run-tests noise
		tests/machines/boot.sh icelake --cpu $vice \
			env NOISE=interrupts SOURCE=shared /usr/bin/run-tests noise ;;
	processors)
		tests/machines/processors.sh ;;
	asan)
		tests/machines/asan.sh ;;
	switches)
		tests/machines/switches.sh ;;
	mutants)
		tests/mutants.sh ;;
	mpi)
		tests/machines/mpi.sh ;;
	vices)
		# shellcheck disable=SC2086 # one word or none
		tests/machines/vices.sh $only ;;
	ppc32-rules)
		tests/machines/ppc32-rules.sh ;;
	p4)
		# perf is the witness where Linux's own driver counts right: on 5.10. Then ours
		for machine in p4-5.10 p4m2-ht-5.10 p4m3-ht-5.10; do
			[ -z "$only" ] || continue
			tests/machines/stage.sh "$machine"
			tests/machines/boot.sh $machine --icount --smp 2 /usr/libexec/perfctr/perf_p4
		done
		for machine in ${only:-p4 p4m2-ht p4m3-ht}; do
			tests/machines/stage.sh "$machine"
			tests/machines/boot.sh "$machine" --icount --smp 2 /usr/bin/run-tests p4
		done ;;
	p5-rules)
		tests/machines/p5-rules.sh ;;
	kernels)
		# All warnings, for the kernels that lint does not build for; sparse is in the root `full` alone.
		n=0
		for machine in x86_64-6.1 pentium3 x86_64-testing riscv64-testing x86_64-rt; do
			set -- W=1
			[ "$machine" != x86_64-rt ] || set -- W=1 C=2 CHECK=/src/tests/machines/sparse
			rm -rf "build/kernels/$machine"
			tests/machines/kbuild.sh -d "build/kernels/$machine" "$machine" "$@" >$log/kernels.make 2>&1 ||
				{ cat $log/kernels.make; return 1; }
			! grep -E '^[^ ]*: (warning|error)|^(WARNING|ERROR): modpost' -A 6 $log/kernels.make || return 1
			echo "ok kernels.$machine"
			n=$((n + 1))
		done
		echo "$n passed, 0 failed" ;;
	newest)
		tests/machines/newest.sh ;;
	more-*)
		machine_of "${1#more-}"
		# shellcheck disable=SC2086 # words
		run_tests "$machine --smp $smp" $more ;;
	guest-*)
		machine_of "${1#guest-}"
		# The instruction clock makes RISC-V's counts exact. QEMU's x86_64
		# has no counters.
		icount=--icount
		[ "${machine#riscv64}" != "$machine" ] || icount=
		subjects=
		case $full$machine in
		hybrid) subjects='selftest hybrid beside' ;;
		riscv64-thead) subjects='exact hold' ;;
		riscv64-board)
			way='env BOARD=1'
			subjects='exact hold sharing' ;;
		riscv64-opensbi) subjects='exact sharing' ;;
		# What is left out here, of the library and of perfex, is the same on a skylake.
		riscv64-6.12)
			subjects="selftest $core behaviours reader width sharing guarded tracee cpus record perfex"
			# Counters of Debian's own QEMU do not interrupt.
			[ "$smp" != 1 ] ||
				subjects='abi preserve handle hold exact pairs inherit overflow tracee lib meter noise perfex' ;;
		# more-skylake has the others.
		skylake) subjects=$first ;;
		icelake-testing) subjects='abi exact inherit hold rdpmc overflow record' ;;
		*-testing | *-6.1) subjects='exact overflow record' ;;
		# What a kernel of 64 bits has to know of programs of 32
		nehalem-i386) subjects='abi preserve handle exact record' ;;
		# PREEMPT_RT minds what is done in interrupts, switches and probes.
		skylake-rt) subjects='exact guarded rdpmc overflow inherit handle record' ;;
		zen4) subjects='selftest abi exact guarded overflow' ;;
		k7) subjects='exact overflow old' ;;
		pentiumm) subjects='machine exact overflow old' ;;
		# What the Pentium and its clones do unlike others; where counters count all modes most
		# subjects count the clock alone. check-debug runs all of a p5mmx and of a c3.
		p5mmx) subjects='selftest exact' ;;
		p5 | mii) subjects="selftest $core behaviours reader lib meter old perfex noise measure vices" ;;
		c6 | winchip2 | c3) subjects='selftest exact modeless' ;;
		7450) subjects='selftest exact pairs guarded overflow ppc32' ;;
		# Switches are seen by the tracepoint, and perf forgets to ask: after a refusal it is not
		# to be trusted there, see test_unreserved.c.
		7450-plain)
			subjects="$core behaviours reader width guarded lib old extra noise burden cpus unreserved" ;;
		# Four counters, whose interrupts are unsafe, and the same with them
		7400)
			way="env PARAMS=unsafe_interrupts=1"
			subjects='exact overflow' ;;
		esac
		# shellcheck disable=SC2086 # words
		run_tests "$machine $icount --smp $smp" $subjects ;;
	shared-* | tracepoint-*)
		machine_of "${1#*-}"
		case $1 in
		# The NMI watchdog counts meanwhile, where there is one.
		shared-*)
			way="$way env SOURCE=shared"
			subjects='exact beside inherit handle hold preserve perfex'
			case $full$machine in
			riscv64-*)
				subjects='exact beside'
				# Debian's own QEMU counts an event once, which perf does not notice.
				[ "$smp" != 1 ] || subjects='exact inherit handle hold preserve' ;;
			arm64-*) subjects='selftest exact beside' ;;
			yarm64-*) subjects="selftest $subjects lib old cpus record" ;;
			yicelake) subjects="$subjects lib old" ;;
			# icelake's run the same programs.
			skylake) subjects='exact beside inherit handle hold preserve' ;;
			# Anybody could read them. perf's few counters, of one mode, are not enough for the rest.
			7450)
				way="$way PARAMS=shared_open=1"
				subjects='exact inherit handle hold preserve' ;;
			esac ;;
		*)
			way='env PARAMS=by_tracepoint=1'
			subjects='exact inherit hold' ;;
		esac
		# shellcheck disable=SC2086 # words
		run_tests "$machine --icount --smp $smp" $subjects ;;
	beside-*)
		# Our own counters while perf has others. The NMI watchdog is one of its users.
		machine_of "${1#beside-}"
		# Tests count by more counters at once than we have if the usual number is left to perf.
		left=-1
		case $machine in
		icelake*) left=0 ;;
		zen*) left=1 ;;
		esac
		way="env BESIDE=$left WATCHDOG=y"
		subjects='exact overflow sharing guarded extra'
		[ "$machine" != icelake-topdown ] || subjects='topdown manual'
		[ -z "$full" ] ||
			subjects="$core behaviours reader width sharing guarded rdpmc old lib meter tracee cpus attach record noise extra perfex selftest measure"
		# shellcheck disable=SC2086 # words
		run_tests "$machine --icount --smp $smp" $subjects ;;
	kvm-*)
		# Guests of KVM's on the machine: natively, through perf, and, since 7.2, guests that
		# have the counters for themselves
		machine=${1#kvm-}
		tests/machines/stage.sh "$machine"
		all='run-tests kvm; SOURCE=shared run-tests kvm'
		[ "$machine" = "${machine%-testing}" ] ||
			all="$all; MEDIATED=1 run-tests kvm; MEDIATED=1 SOURCE=shared run-tests kvm"
		tests/machines/boot.sh "$machine" --icount --smp 2 --timeout 600 sh -c "$all" ;;
	isolated-*)
		# CPU 1 is left alone, as far as the kernel leaves it.
		machine=${1#isolated-}
		subjects='burden exact cpus guarded rdpmc'
		tests/machines/stage.sh "$machine"
		# shellcheck disable=SC2086 # words
		tests/machines/boot.sh "$machine" --icount --smp 2 --timeout 1800 \
			--append 'isolcpus=1 nohz_full=1' /usr/bin/run-tests $subjects ;;
	debug-*)
		# debug-MACHINE-WHAT: slow, and with OPS=N as many operations as one has
		# the patience for.
		what=${1##*-}
		machine=${1#debug-}
		machine=${machine%-"$what"}
		tests/machines/stage.sh "$machine"
		set -- "$what"
		[ "$what" != stress ] || [ -z "${OPS-}" ] || set -- "$@" -n "$OPS"
		smp=2
		case $machine in 7??*) smp=1 ;; esac
		# stress looks at the module's own slab caches.
		# shellcheck disable=SC2086 # words
		tests/machines/boot.sh "$machine" --icount --smp $smp --timeout 7200 \
			--append slab_nomerge $way /usr/bin/run-debug "$@" ;;
	stress-*)
		# stress-MACHINE-OPERATIONS: two CPUs that really execute at the same time
		n=${1##*-}
		machine=${1#stress-}
		machine=${machine%-"$n"}
		tests/machines/stage.sh "$machine"
		for try in 1 2 3; do
			status=0
			# Where the kernel checks itself it gets 100 of them done in a second.
			# shellcheck disable=SC2086 # words
			tests/machines/boot.sh "$machine" --parallel --smp 2 \
				--timeout $((600 + n / 100)) --append slab_nomerge \
				$way /usr/bin/run-debug stress -i -n "$n" || status=$?
			[ "$status" = 97 ] || return "$status"
			echo "try $try ended by a fault of QEMU's"
		done
		return "$status" ;;
	*)
		echo "no part '$1'" >&2
		return 2 ;;
	esac
}


[ $# = 1 ] || { echo "usage: part.sh PART[:TEST]" >&2; exit 2; }
case $1 in *:*) only=${1#*:} ;; esac
run_part "${1%%:*}"
