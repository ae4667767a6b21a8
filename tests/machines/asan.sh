#!/bin/sh
# usage: asan.sh [MACHINE...]
#
# Random values are written to the registers of emulated x86 processors' counters, for more than a
# minute in all, on a QEMU that is built with AddressSanitizer: it must bear whatever a guest does.
# WRITES is how many operations on each.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"
[ $# -gt 0 ] || set -- p6 core icelake icelake-topdown pentium3 k7 k8 fam10h fam15h zen2 zen4 \
	p4 p4m2-ht p4m3-ht p5 p5mmx mii c6 winchip2 c3

# What QEMU holds as it ends is no leak. To find uses after a return each function's frame is
# allocated; those that QEMU leaves by longjmp() are never freed, and soon most of the time goes into
# looking for a free one.
export QEMU_X86=asan ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0
passed=0 failed=0
for machine; do
	tests/machines/stage.sh "$machine"
	smp=2
	# Linux warns of two Athlons that they were not sold for that, and of the clones there never were two.
	case $machine in k7 | p5 | p5mmx | mii | c6 | winchip2 | c3) smp=1 ;; esac
	# The NMI watchdog's counter would be written to as well, and interrupt without end.
	if tests/machines/boot.sh "$machine" --timeout 900 --append nmi_watchdog=0 --smp $smp \
		/usr/libexec/perfctr/writes -n "${WRITES-20000}"; then
		echo "ok asan.$machine"
		passed=$((passed + 1))
	else
		echo "not ok asan.$machine"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
