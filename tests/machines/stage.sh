#!/bin/sh
# usage: stage.sh [--demo] MACHINE
#
# Builds all that runs inside MACHINE (the module, the library, perfex, guest
# tests, benches) and lays it out in build/stage/MACHINE as boot.sh takes it. With --demo
# it is what the demo needs alone, in build/stage/demo. With REACH=y the module tells what of it is
# executed (reach/reach.c), and all is in build/stage/MACHINE-reach.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
demo=''
[ "${1-}" != --demo ] || { demo=y; shift; }
machine=${1?usage: stage.sh [--demo] MACHINE}

# shellcheck source=tests/machines/machine.sh
. "$here/machine.sh"

[ -z "$demo" ] || programs=demo
echo "perfctr: building for $machine" >&2
"$here/kbuild.sh" "$module" -s

# Each make gets the outputs of those before it; LIBDIR is where libperfctr.a is.
# shellcheck disable=SC2016 # for the inner shell
exec "$here/inroot" -r "$programs" sh -euc '
	machine=$1 arch=$2 cross=$3-linux-gnu- module=$4 demo=$5 reach=$6
	[ "$arch" != i386 ] || cross=i686-linux-gnu-
	out=/src/build/$arch stage=/src/build/stage/$machine$reach
	[ -z "$demo" ] || stage=/src/build/stage/demo
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
	cp "/src/build/$module$reach/module/perfctr.ko" "$stage.new/lib"
	# What coverage.py reads stays there: with it each load would copy 18 MB.
	[ -z "$reach" ] || {
		"${cross}strip" -g "$stage.new/lib/perfctr.ko"
		cp "/src/build/$module$reach/reach/reach.ko" "$stage.new/lib"
	}
	kernels=msr
	# Of what is emulated here these have virtualization.
	case $machine in fam1* | zen*) kernels="msr irqbypass ccp kvm kvm-amd" ;; esac
	for ko in $kernels; do
		ko=/src/build/$module$reach/module/$ko.ko
		[ ! -e "$ko" ] || cp "$ko" "$stage.new/lib"
	done

	m lib PREFIX=/usr all
	cp -P "$out"/lib/libperfctr.so.* "$stage.new/usr/lib"
	m tools/perfex LIBDIR="$out/lib" PREFIX=/usr DESTDIR="$stage.new" install
	if [ "$demo" ]; then
		m tests/guest DESTDIR="$stage.new" install-demo
	else
		m tests/guest LIBDIR="$out/lib" DESTDIR="$stage.new" install
		m bench LIBDIR="$out/lib" DESTDIR="$stage.new" install
	fi

	# initramfs.sh may be copying it.
	exec 8>"$stage.lock"
	flock 8
	rm -rf "$stage"
	mv "$stage.new" "$stage"
	' stage "$machine" "$arch" "$gnu" "$module" "$demo" "${REACH:+-reach}"
