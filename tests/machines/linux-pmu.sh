#!/bin/sh
# usage: linux-pmu.sh trixie|testing
#
# Prints where Linux's driver of Intel's and AMD's counters is, relative to the checkout: those files of
# its source that tests/unit/driver/linux reads, of the version whose headers are in the build root.
# The source is Debian's, which is fetched once (150 MB), and these files are kept in the cache.
set -eu

files='arch/x86/include/asm/intel-family.h arch/x86/include/asm/perf_event.h
	arch/x86/events/perf_event.h arch/x86/events/core.c arch/x86/events/intel/core.c
	arch/x86/events/intel/p6.c arch/x86/events/amd/core.c'

case ${1-} in
--*) ;;
*)
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"
	suite=${1?usage: linux-pmu.sh trixie|testing}
	build_root=check
	[ "$suite" = trixie ] || build_root=$suite
	root=$("$here/root.sh" "$build_root")
	# The root's name has its recipe's hash, but its packages can be newer.
	version=$(dpkg-query --admindir="${root%%:*}/var/lib/dpkg" -f '${source:Version}\n' \
		-W 'linux-kbuild-*' | tail -n 1)
	key=$(echo "$files" | sha256sum | cut -c1-8)
	name=linux-pmu-$version-$key
	kept=$cache/$name.tar used=build/linux/$name

	kept_find linux-pmu

	echo "perfctr: fetching Linux's source of $suite: once, about a minute" >&2
	work=build/linux/pmu-work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	self=/src/tests/machines/${0##*/}
	# The roots of other suites cannot unpack it.
	(cd "$top" && tests/machines/inroot -r "$build_root" -w "$self" --fetch "/src/$work" "$version" &&
		tests/machines/inroot "$self" --unpack "/src/$work") >&2 9>&- || {
		echo "perfctr: Linux's source of $suite could not be had" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'linux-pmu-*.tar'
	exit ;;
esac

# --- Inside of a build root

cd "$2"
case $1 in
--fetch)
	/src/tests/machines/linux-source.sh "$3" ;;
--unpack)
	mkdir linux
	# tar ends as soon as it has all of them. What writes to it then ends by SIGPIPE.
	# shellcheck disable=SC2046 # words
	dpkg-deb --fsys-tarfile linux-source-*.deb 2>log |
		tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' 2>>log |
		xz -d -T0 2>>log |
		tar -x -C linux --strip-components=1 --occurrence --wildcards \
			$(for f in $files; do echo "*/$f"; done) 2>>log || :
	for f in $files; do
		[ -s "linux/$f" ] || { cat log; echo "perfctr: no $f in Linux's source"; exit 1; }
	done
	tar -c -f kept.tar -C linux . ;;
esac
