#!/bin/sh
# usage: switches.sh [MACHINE...]
#
# Counts, in QEMU's trace, what context switches write to the registers of Intel's
# counters, for threads that count in different ways (tests/guest/witness/switches_x86_64.c),
# and demands the number. The guest's own account, CPUID leaf 0x40000001, must agree.
# A thread that reads no registers in user mode causes no write, to CR4 neither.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

[ $# -gt 0 ] || set -- p6 core2 icelake

log=build/log/switches
mkdir -p $log
for machine; do
	tests/machines/stage.sh "$machine"
	rm -f "build/log/$machine.trace"
	tests/machines/boot.sh "$machine" --trace 'x86_*' --timeout 120 \
		/usr/libexec/perfctr/switches >"$log/$machine" 2>&1 ||
		{ cat "$log/$machine"; echo "not ok switches-$machine"; }
	# Between two marks, each two reads of PERFCTR0, is one way's.
	awk -v machine="$machine" '
	function result(good, why) {
		print (good ? "ok " : "not ok ") "switches-" machine "-" $2 (good ? "" : ": " why)
	}
	FILENAME ~ /\.trace$/ {
		if (/x86_pmu_rdmsr .* msr 0xc1 /) {
			if (half) {
				inside = !inside
				n += inside
			}
			half = !half
			next
		}
		half = 0
		if (inside && /x86_pmu_wrmsr /)
			wrmsr[n]++
		if (inside && /x86_write_cr4 /)
			cr4[n]++
		next
	}
	$1 == "switches" {
		i++
		if (i > n || inside)
			result(0, "not in the trace")
		else if (wrmsr[i] + 0 != $3)
			result(0, wrmsr[i] + 0 " writes instead of " $3)
		else if (wrmsr[i] + 0 != $4 || cr4[i] + 0 != $5)
			result(0, "CPUID tells " $4 " and " $5 ", the trace " wrmsr[i] + 0 " and " cr4[i] + 0)
		else if ($2 !~ /^mapped/ && cr4[i])
			result(0, cr4[i] " writes to CR4")
		else
			result(1)
	}
	END {
		if (!i || i != n)
			print "not ok switches-" machine ": " i + 0 " ways, " n + 0 " in the trace"
	}' "build/log/$machine.trace" "$log/$machine"
done | tee $log/results

passed=$(grep -c '^ok ' $log/results || :)
failed=$(grep -c '^not ok ' $log/results || :)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
