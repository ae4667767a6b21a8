#!/bin/sh
# usage: check.sh [PART...]
#
# Runs the tests that every change must pass, or the given parts, two at a time.
# The Makefile has the parts that are slow and rarely fail (check-debug). What each
# said is in build/log/PART.log; what failed is printed, and at the end
# `N passed, N failed`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
cd "$top"
log=build/log

# guest-MACHINE is the guest suite there, on one processor or two; shared-MACHINE is as much of
# it as counts through perf, and tracepoint-MACHINE with switches seen by the tracepoint.
# shared-PART, tracepoint-PART and tracepoint-shared-PART are all of a PART that is guest-...,
# stress-... or debug-..., in that way. full-PART has all subjects. What takes long comes
# first. A warm run shall take 25 minutes: a part that is added here costs another one its place.
parts='lint unit guest-skylake-smp2 guest-riscv64-6.12-smp2 guest-riscv64-nopmu
	guest-x86_64-6.12-smp2 guest-icelake-testing guest-skylake-6.1 guest-nehalem-i386
	guest-zen4-smp2 kvm-zen4-testing guest-7450 guest-p5mmx guest-c6
	shared-icelake-smp2 shared-riscv64-6.12-smp2 shared-arm64-6.12-smp2
	tracepoint-icelake-smp2 stress-riscv64-6.12-30000 stress-icelake-30000
	languages fuzz-report install ppc32-rules p4 p5-rules newest'

# What the part's job is run by, in the guest
way=''
full=''

# What differs between kernels
core='abi preserve handle hold exact inherit rdpmc overflow'

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
	lint)
		# Probes are written once for all architectures.
		tests/lint.sh checkpatch kernel layers lengths families behaviours pieces probes-x86_64 \
			tidy shellcheck manuals versions abi commits ;;
	lint-all)
		tests/lint.sh ;;
	unit)
		tests/machines/inroot make -s -C tests/unit O=/src/build/unit check
		# The library's tables of events against libpfm4's encoding
		tests/machines/inroot make -s -C tests/unit O=/src/build/unit \
			"LIBPFM4=/src/$(tests/machines/libpfm4.sh)" check-tables
		# The driver's knowledge of Intel's models against Linux's
		trixie=$(tests/machines/linux-pmu.sh trixie)
		testing=$(tests/machines/linux-pmu.sh testing)
		tests/machines/inroot make -s -C tests/unit/driver O=/src/build/unit/driver \
			"LINUX=/src/$trixie /src/$testing" check-linux ;;
	fuzz-report)
		# For a minute, or FUZZ_SECONDS; in full-fuzz-report for ten
		[ -z "$full" ] || export FUZZ_SECONDS="${FUZZ_SECONDS-600}"
		tests/machines/inroot -r full -e FUZZ_SECONDS make -s -C tests/unit/report \
			O=/src/build/fuzz-report fuzz ;;
	dkms)
		tests/machines/dkms.sh ;;
	install)
		tests/install.sh ;;
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
	mpi)
		tests/machines/mpi.sh ;;
	vices)
		tests/machines/vices.sh ;;
	ppc32-rules)
		tests/machines/ppc32-rules.sh ;;
	p4)
		# perf is the witness where Linux's own driver counts right: on 5.10. Then ours
		for machine in p4-5.10 p4m2-ht-5.10 p4m3-ht-5.10; do
			tests/machines/stage.sh $machine
			tests/machines/boot.sh $machine --icount --smp 2 /usr/libexec/perfctr/perf_p4
		done
		for machine in p4 p4m2-ht p4m3-ht; do
			tests/machines/stage.sh $machine
			tests/machines/boot.sh $machine --icount --smp 2 /usr/bin/run-tests p4
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
	guest-*)
		machine=${1#guest-}
		smp=${machine##*-smp}
		[ "$smp" != "$machine" ] || smp=1
		machine=${machine%-smp*}
		tests/machines/stage.sh "$machine"
		# The instruction clock makes RISC-V's counts exact. QEMU's x86_64
		# has no counters.
		icount=--icount
		[ "${machine#riscv64}" != "$machine" ] || icount=
		subjects=
		case $full$machine in
		hybrid) subjects='report hybrid beside' ;;
		# skylake runs all. What is left out here, of the library and of perfex, is the same.
		riscv64-6.12)
			subjects="report $core behaviours reader width sharing guarded tracee cpus record perfex" ;;
		icelake-testing) subjects='abi exact inherit hold rdpmc overflow record' ;;
		*-testing | *-6.1) subjects='exact overflow record' ;;
		# What a kernel of 64 bits has to know of programs of 32
		nehalem-i386) subjects='abi preserve handle exact' ;;
		# PREEMPT_RT minds what is done in interrupts, switches and probes.
		skylake-rt) subjects='exact guarded rdpmc overflow inherit handle record' ;;
		zen4) subjects='report abi exact guarded overflow' ;;
		k7) subjects='exact overflow old' ;;
		pentiumm) subjects='machine exact overflow old' ;;
		# What the Pentium and its clones do unlike others; where counters count all modes most
		# subjects count the clock alone. check-debug runs all of a p5mmx and of a c3.
		p5mmx) subjects='report exact' ;;
		p5 | mii) subjects="report $core behaviours reader lib meter old perfex noise measure vices" ;;
		c6 | winchip2 | c3) subjects='report exact modeless' ;;
		7450) subjects='report exact guarded overflow ppc32' ;;
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
		tests/machines/boot.sh "$machine" $icount --smp "$smp" \
			--timeout 1800 $way /usr/bin/run-tests $subjects ;;
	shared-* | tracepoint-*)
		machine=${1#*-}
		smp=${machine##*-smp}
		[ "$smp" != "$machine" ] || smp=1
		machine=${machine%-smp*}
		tests/machines/stage.sh "$machine"
		case $1 in
		# The NMI watchdog counts meanwhile, where there is one.
		shared-*)
			way="$way env SOURCE=shared"
			subjects='exact beside inherit handle hold preserve perfex'
			case $full$machine in
			riscv64-*) subjects='exact beside' ;;
			arm64-*) subjects='report exact beside' ;;
			yarm64-*) subjects="report $subjects lib old cpus record" ;;
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
		tests/machines/boot.sh "$machine" --icount --smp "$smp" --timeout 1800 \
			$way /usr/bin/run-tests $subjects ;;
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

# "passed failed", from a part's output and status. Its last count is that of the
# whole, but the unit tests are programs of their own, some with libcheck, which
# says "87%: Checks: 8, Failures: 1, Errors: 0", and KVM's and a Pentium 4's are several runs. A part that counts
# nothing is one test.
count() { # part log status
	case $1 in unit | kvm-* | p4) several=1 ;; *) several= ;; esac
	awk -v several="$several" -v unit="$([ "$1" != unit ] || echo 1)" -v status="$3" '
	/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
		if (!several)
			p = f = 0
		p += $1
		f += $3
		counted = 1
	}
	unit && /^[0-9]+%: Checks: / { gsub(/,/, ""); p += $3 - $5 - $7; f += $5 + $7 }
	END {
		if (status != 0 && f == 0)
			f = 1
		else if (!counted && p + f == 0)
			p = 1
		print p + 0, f + 0
	}' "$2"
}

if [ "${1-}" = --part ]; then
	part=$2
	start=$(date +%s)
	status=0
	# Not `run_part || ...`, which would switch -e off inside.
	"$0" --run "$part" >"$log/$part.log" 2>&1 || status=$?
	n=$(count "$part" "$log/$part.log" $status)
	echo "$n" > "$log/$part.count"
	seconds=$(($(date +%s) - start))
	grep '^note: ' "$log/$part.log" || :
	if [ "${n#* }" = 0 ]; then
		echo "$part: all ${n% *} good, $seconds s"
	else
		# One write, as another part may be printing.
		text=$(grep -E '^not ok|^[^ ]+:[0-9]+:[FE]:|(error|warning): ' \
				"$log/$part.log" | head -n 100
			echo "--- the end of $log/$part.log:"
			tail -n 40 "$log/$part.log"
			echo "---"
			echo "$part: ${n% *} good, ${n#* } BAD, $seconds s")
		printf '%s\n' "$text"
	fi
	exit 0
elif [ "${1-}" = --run ]; then
	run_part "$2"
	exit
fi

start=$(date +%s)
mkdir -p $log
# Here, so that one sees it being made, and no two parts wait for it. The others are made beside the
# first parts, which need this one only.
tests/machines/root.sh full >/dev/null
{ tests/machines/root.sh testing; tests/machines/root.sh bookworm; } >/dev/null &

[ $# = 0 ] || parts=$*
for part in $parts; do
	rm -f "$log/$part.count"
done
# shellcheck disable=SC2086 # words
printf '%s\n' $parts | xargs -n 1 -P 2 "$0" --part
wait

passed=0 failed=0
for part in $parts; do
	# A part that left no count died badly.
	read -r p f < "$log/$part.count" || { p=0 f=1; }
	passed=$((passed + p)) failed=$((failed + f))
done
echo "in $(($(date +%s) - start)) s; every part's output is in $log"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
