#!/bin/sh
# usage: stage.sh MACHINE
#
# Builds all that runs inside MACHINE (the module, the library, perfex, guest
# tests, benches) and lays it out in build/stage/MACHINE as boot.sh takes it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
machine=${1?usage: stage.sh MACHINE}

# shellcheck source=tests/machines/machine.sh
. "$here/machine.sh"

echo "perfctr: building for $machine" >&2
"$here/kbuild.sh" "$module" -s

# Each make gets the outputs of those before it; LIBDIR is where libperfctr.a is.
# shellcheck disable=SC2016 # for the inner shell
exec "$here/inroot" -r "$programs" sh -euc '
	machine=$1 arch=$2 cross=$3-linux-gnu- module=$4
	[ "$arch" != i386 ] || cross=i686-linux-gnu-
	out=/src/build/$arch stage=/src/build/stage/$machine
	mkdir -p "$out" /src/build/stage
	exec 9>"$out/.lock"
	flock 9

	m() {
		dir=$1
		shift
		make -s -j"$(nproc)" -C "/src/$dir" CROSS_COMPILE="$cross" \
			O="$out/$(basename "$dir")" "$@"
	}
	rm -rf "$stage.new"
	mkdir -p "$stage.new/lib" "$stage.new/usr/lib"
	cp "/src/build/$module/module/perfctr.ko" "$stage.new/lib"
	kernels=msr
	# Of what is emulated here these have virtualization.
	case $machine in fam1* | zen*) kernels="msr irqbypass ccp kvm kvm-amd" ;; esac
	for ko in $kernels; do
		ko=/src/build/$module/module/$ko.ko
		[ ! -e "$ko" ] || cp "$ko" "$stage.new/lib"
	done

	m lib PREFIX=/usr all
	cp -P "$out"/lib/libperfctr.so.* "$stage.new/usr/lib"
	for dir in tools/perfex tests/guest bench; do
		m $dir LIBDIR="$out/lib" PREFIX=/usr DESTDIR="$stage.new" install
	done

	rm -rf "$stage"
	mv "$stage.new" "$stage"
	' stage "$machine" "$arch" "$gnu" "$module"
