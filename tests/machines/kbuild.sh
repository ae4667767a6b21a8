#!/bin/sh
# usage: kbuild.sh [-d DIR] MACHINE [MAKE-ARG...]
#
# Builds the module for MACHINE's kernel, in a copy of its sources, to
# build/MACHINE/module/perfctr.ko; with -d to DIR/module (DIR relative to the
# checkout). MAKE-ARGs are for instance W=1 C=2.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=''
if [ "${1-}" = -d ]; then
	dir=$2
	shift 2
fi
machine=${1?usage: kbuild.sh [-d DIR] MACHINE [MAKE-ARG...]}
shift

case $machine in
riscv64-testing | x86_64-testing) suite=testing ;;
riscv64-6.12 | x86_64-6.12 | x86_64-rt) suite=trixie ;;
# These differ in their processor only.
riscv64-smcntrpmf | riscv64-nopmu) suite=trixie ;;
riscv64-debug | x86_64-debug | x86_64-kcsan) suite=trixie ;;
*) echo "kbuild: no machine '$machine'" >&2; exit 2 ;;
esac
# M= must be given for the kernel's own makefile to be a module build.
case $machine in
riscv64*) arch='riscv64 ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-' ;;
x86_64-rt) arch='rt-amd64 ARCH=x86' ;;
x86_64*) arch='amd64 ARCH=x86' ;;
esac
headers=/usr/src/headers-${arch%% *}
case $machine in
*-debug | *-kcsan) headers=/src/$("$here/debug/build.sh" "$machine") ;;
esac

# shellcheck disable=SC2016,SC2086 # for the inner shell; words
exec "$here/inroot" -r $suite sh -euc '
	dir=/src/$1 headers=$2 arch=$3
	shift 3
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

	make -C "$headers" M="$dir/module" ${arch#* } \
		-j "$(nproc)" "$@" modules
	' kbuild "${dir:-build/$machine}" "$headers" "$arch" "$@"
