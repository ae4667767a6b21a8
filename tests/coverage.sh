#!/bin/sh
# usage: coverage.sh [--host] [PART...]
#
# Prints how many lines of module/ all tests together reach, and which they do not: on the host, by gcov, the
# drivers' tests and the engines of all architectures; and in machines of 64 bits the PARTs of tests/parts (those
# below if none is named; none with --host), with a module that tells what of it is executed (machines/reach).
# tests/unreached names lines that nothing reaches, with why. It fails if any other is not reached.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
out=build/coverage

if [ "${1-}" = --host ]; then
	shift
elif [ $# = 0 ]; then
	set -- full-guest-skylake-smp2 full-guest-riscv64-6.12-smp2 full-guest-zen4-smp2 full-shared-icelake-smp2 \
		full-shared-arm64-6.12-smp2 tracepoint-guest-icelake-smp2 guest-icelake-topdown-smp2 \
		guest-hybrid-smp2 guest-riscv64-6.12 guest-riscv64-board guest-riscv64-nopmu kvm-zen4 \
		p4:p4m2-ht isolated-skylake tracepoint-guest-riscv64-6.12-smp2 \
		stress-icelake-topdown-30000 stress-riscv64-6.12-30000 debug-riscv64-debug-faults debug-icelake-debug-faults
fi

# What older sources reached says nothing of the lines of these.
rm -rf $out/guests
mkdir -p $out/guests
# The leak sanitizer is there for what calls it, and does not change the code.
tests/machines/inroot make -s -j2 -C tests/unit/driver O=/src/$out/host SANITIZE=-fsanitize=leak \
	CFLAGS='-O0 -g --coverage' all
find $out/host -name '*.gcda' -delete
for test in test engine; do
	for arch in x86 riscv ppc32; do
		tests/machines/inroot "$out/host/${test}_$arch" >"$out/host/${test}_$arch.log" ||
			{ cat "$out/host/${test}_$arch.log"; exit 1; }
	done
done
tests/machines/inroot python3 tests/coverage.py host $out/host >$out/host.lines

for part; do
	log=$out/guests/$part.log
	rm -f build/out/*/reach.gz
	REACH=y tests/part.sh "$part" >"$log" 2>&1 || echo "note: $part failed: $log"
	for told in build/out/*/reach.gz; do
		[ -e "$told" ] || { echo "not ok coverage: $part says nothing of what it reached"; exit 1; }
		machine=${told%/reach.gz}
		machine=${machine##*/}
		# shellcheck source=tests/machines/machine.sh
		. tests/machines/machine.sh
		tests/machines/inroot -r "$programs" python3 tests/coverage.py guest \
			"build/$module-reach/module/perfctr.ko" "$told" "$gnu-linux-gnu-objdump" \
			>"$out/guests/$part-$machine.lines"
	done
done

# shellcheck disable=SC2046 # files of ours
tests/machines/inroot python3 tests/coverage.py sum $out/host.lines $(find $out/guests -name '*.lines' | sort)
