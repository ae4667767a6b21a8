#!/bin/sh
# usage: p5-rules.sh [PROCESSOR...]
#
# Boots a program without an operating system (p5/rules.c) on emulated processors with the counters of
# Intel's P5, of its clones, or of VIA's C3, one after the other, and has it check their rules: on all,
# or on those that are named by their machine: README.md, "The Pentium's counters, and its clones'".
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

if [ "${1-}" != --inside ]; then
	cd "$top"
	[ $# -gt 0 ] || set -- p5 p5mmx mii c6 winchip2 c3
	qemu=$(tests/machines/qemu/build.sh x86_64)
	exec tests/machines/inroot tests/machines/p5-rules.sh --inside "$qemu" "$@"
fi

# --- Inside of the build root

qemu=$2
shift 2
out=build/p5-rules log=build/log/p5-rules
rm -rf $out $log
mkdir -p $log
make -s -C tests/machines/p5 "O=$top/$out"

for machine; do
	# shellcheck source=tests/machines/machine.sh
	. "$here/machine.sh"
	echo "perfctr: $machine"
	status=0
	timeout -k 5 60 "$qemu/qemu-system-x86_64" -M q35 -cpu "$cpu" -icount shift=0,sleep=off \
		-nic none -vga none -display none -monitor none -serial stdio -no-reboot \
		-kernel "$out/rules" </dev/null >"$log/$machine" 2>&1 || status=$?
	# Its last line says that it came to its end.
	[ $status = 0 ] && tail -n 1 "$log/$machine" | grep -q ' passed, ' ||
		echo "not ok $machine: ended with status $status" >>"$log/$machine"
	grep -v -e '^ok ' -e ' passed, ' "$log/$machine" || :
done
passed=$(cat $log/* | grep -c '^ok ' || :)
failed=$(cat $log/* | grep -c '^not ok ' || :)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
