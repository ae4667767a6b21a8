#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: test_selftest
#
# Inside an emulated machine: perfex selftest, by root and on some machines by others too, against
# the text that is kept for a machine of this name with so many CPUs. What differs
# from kernel to kernel, or with what the machine did before, is one letter in both. With REPORTS
# set the texts are handed out instead (tests/machines/reports.sh).
kept=/usr/libexec/perfctr/reports
machine=$(hostname)-smp$(nproc)${VICE:+-$VICE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# Few, since each costs an emulated machine 10 us, and a short wait
options='--overflows 50 --watch 2'

variants=root
case $machine in
icelake-smp2) variants='root user watchdog' ;;
riscv64-6.12-smp2) variants='root user' ;;
esac

filter() {
	sed -E \
		-e 's/^((perfex|library) +|driver_version\t+)[0-9.]+$/\1N/' \
		-e 's/^(kernel +Linux) [^ ]+ /\1 N /' \
		-e 's/^((marchid|mimpid) +)0x[0-9a-f]+$/\1N/' \
		-e 's/^((cpu_khz|tsc_hz)\t+)[0-9]+$/\1N/' \
		-e 's/^(  cost of .*: )[0-9]+ cycles$/\1N cycles/' \
		-e 's/^(  at load MSR 0x(c[1-8]|30[9ab]): 0x)[0-9a-f]+$/\1N/' \
		-e 's/^(  (reference|bus) cycles.*: )(1\.00[0-9]|0\.99[0-9])( in each tick)$/\11.000\4/' \
		-e 's/^(  RDPMC: )[0-9]+( cycles of the clock)$/\1N\2/' \
		-e 's/^(  RDPMC: )[0-9]+( cycles of the clock, with LFENCE before it )[0-9]+$/\1N\2N/' \
		-e 's/ \([0-9]+ switches\)$/ (N switches)/' \
		-e 's/(, most of them count )[1-9][0-9]*( instructions)$/\1N\2/' \
		-e 's/^  [1-9][0-9]* interrupts, /  N interrupts, /' \
		-e 's/^(  N interrupts, )[1-9][0-9]*/\1N/' \
		-e 's/ \+(9[5-9][0-9]{2}|10[0-5][0-9]{2})( at 10000 interrupts) \([0-9]+ / +10000\2 (N /' \
		-e 's/^(The checks are made on CPU )[0-9]+,/\1N,/' \
		-e "$2" "$1"
}

# Where interrupts count as instructions, how often one comes while a loop runs
ticks=''
[ "${VICE-}" != counts ] || ticks='
	s/exact in [0-9]+( of [0-9]+ runs)(, counted were [0-9]+ to [0-9]+, executed [0-9]+)?/exact in N\1/
	s/^(  )[1-9][0-9]*( of [0-9]+ runs were off)$/\1N\2/
	s/^(  by up to )[12]( instructions)/\1N\2/
	s/^(  2)[0-3]( to 2)[0-3]( too many, )/\1N\2N\3/'

run_selftest() { # variant
	case $1 in
	root)
		# shellcheck disable=SC2086 # words
		perfex selftest $options --hotplug ;;
	user)
		su user -c "perfex selftest $options" ;;
	watchdog)
		echo 1 >/proc/sys/kernel/nmi_watchdog
		# shellcheck disable=SC2086 # words
		perfex selftest $options
		echo 0 >/proc/sys/kernel/nmi_watchdog ;;
	esac
}

# None of another kernel, or of most vices
if [ -z "${REPORTS-}" ] && [ ! -e "$kept/$machine-root" ]; then
	echo "skipped selftest: there is no text of $machine"
	exit
fi
[ ! -d /sys/module/perfctr ] || rmmod perfctr
# The clock is that of all emulated CPUs, and the kernel still has work on others after it booted.
sleep 10
# The registers that are logged are those of the CPU where it is loaded.
taskset -c 0 insmod /lib/perfctr.ko measure=1 || exit
echo 1 >/proc/sys/kernel/dmesg_restrict

status=0
for variant in $variants; do
	name=selftest_by_$variant
	file=$machine-$variant
	run_selftest "$variant" >"$work/all" 2>&1
	filter "$work/all" "$ticks" >"$work/$file"
	if [ -n "${REPORTS-}" ]; then
		putfile "report-$file" "$work/$file"
		echo "ok $name"
	elif [ ! -e "$kept/$file" ]; then
		echo "skipped $name: there is no text of $file"
	elif diff -u "$kept/$file" "$work/$file" >"$work/diff"; then
		echo "ok $name"
	else
		echo "not ok $name: it differs from tests/guest/reports/$file"
		cat "$work/diff"
		status=1
	fi
done
rmmod perfctr
exit $status
