#!/bin/sh
# usage: stage.sh
#
# Lays out in build/stage/languages what runs on icelake: the module, the examples, and the tests
# of each language with what they need.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
tests/machines/stage.sh icelake
stage=/src/build/stage/languages
# shellcheck disable=SC2016 # for the inner shell
exec tests/machines/inroot -r full sh -euc '
	exec 9>/src/build/x86_64/.lock
	flock 9
	rm -rf "$1"
	mkdir -p "$1/lib"
	cp /src/build/x86_64-6.12/module/perfctr.ko "$1/lib"
	make -s -C /src/tests/languages O=/src/build/languages LIBDIR=/src/build/x86_64/lib DESTDIR="$1" install
	cp /src/build/stage/icelake/usr/libexec/perfctr/known "$1/usr/libexec/perfctr"
	' stage "$stage"
