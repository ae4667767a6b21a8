#!/bin/sh
# usage: kbuild.sh [-d DIR] MACHINE [MAKE-ARG...]
#
# Builds the module for MACHINE's kernel, in a copy of its sources, to
# build/MACHINE/module/perfctr.ko; with -d to DIR/module (DIR relative to the
# checkout). MAKE-ARGs are for instance W=1 C=2. REACH=y makes a module that tells what of it is
# executed, and what it tells: build/MACHINE-reach/reach/reach.ko (reach/reach.c).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=''
if [ "${1-}" = -d ]; then
	dir=$2
	shift 2
fi
machine=${1?usage: kbuild.sh [-d DIR] MACHINE [MAKE-ARG...]}
shift

# shellcheck source=tests/machines/machine.sh
. "$here/machine.sh"
case $arch in
riscv64) vars='ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-' ;;
arm64) vars='ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-' ;;
ppc32) vars='ARCH=powerpc CROSS_COMPILE=powerpc-linux-gnu-' ;;
x86_64 | i386) vars=ARCH=x86 ;;
esac
headers=/usr/src/headers-$flavour
[ -z "$linux" ] || headers=/src/$("$here/linux.sh" "$linux")

# shellcheck disable=SC2016,SC2086 # for the inner shell; words
exec "$here/inroot" -r "$suite" sh -euc '
	dir=/src/$1 headers=$2 vars=$3 reach=$4
	shift 4
	mkdir -p "$dir"
	exec 9>"$dir/.lock"
	flock 9

	# Only what changed is copied, so that only that is compiled; and what
	# was deleted must not be found any longer.
	sources() {
		find module include -type f \( -name "*.[chS]" -o -name Kbuild \
			-o -name Makefile \) ! -name "*.mod.c" 2>/dev/null | sort
	}
	cd "$dir"
	for f in $(sources); do
		[ -e "/src/$f" ] || rm "$f"
	done
	cd /src
	for f in $(sources); do
		cmp -s "$f" "$dir/$f" && continue
		mkdir -p "$dir/${f%/*}"
		cp "$f" "$dir/$f"
	done

	# With M= the makefile of the kernel builds a module.
	if [ "$reach" ]; then
		mkdir -p "$dir/reach"
		cp -u tests/machines/reach/* "$dir/reach"
		make -C "$headers" M="$dir/reach" $vars "$@" modules
		# -Og: each line has code of its own, for coverage.py.
		set -- "KBUILD_EXTRA_SYMBOLS=$dir/reach/Module.symvers" \
			"CFLAGS_MODULE=-g -Og -fsanitize-coverage=trace-pc" "$@"
	fi
	make -C "$headers" M="$dir/module" $vars \
		-j "$(nproc)" "$@" modules

	# For tests of the registers of an emulated x86 processor, and of KVM
	[ "$vars" = ARCH=x86 ] || exit 0
	modules=$headers
	[ ! -L "$headers" ] ||
		modules=/usr/lib/modules/$(readlink "$headers" | sed s/linux-headers-//)/kernel
	for ko in arch/x86/kernel/msr virt/lib/irqbypass drivers/crypto/ccp/ccp arch/x86/kvm/kvm \
		arch/x86/kvm/kvm-amd; do
		ko=$modules/$ko.ko
		[ ! -e "$ko" ] || cp "$ko" "$dir/module"
		[ ! -e "$ko.xz" ] || python3 -c "import lzma, sys
sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())" "$ko.xz" >"$dir/module/${ko##*/}"
	done
	' kbuild "${dir:-build/$machine${REACH:+-reach}}" "$headers" "$vars" "${REACH-}" "$@"
