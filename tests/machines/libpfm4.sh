#!/bin/sh
# usage: libpfm4.sh [--generate]
#
# Prints where libpfm4 is, relative to the checkout: its source, and lib/libpfm.a built of it. The
# source is Debian's, of the version that the tables in lib/events are of; it is fetched once (1 MB),
# and what was built is kept in the cache.
#
# --generate  writes the tables in lib/events anew
set -eu

version=4.13.0-1
hash=d18b97764c755528c1051d376e33545d0eb60c6ebf85680436813fa5b04cc3d1
sets='p6 pii piii pentm core core2 atom nhlm wstmr arch p4 p4m2 p4m3 k7 k8 k8c fam10h'

self=/src/tests/machines/${0##*/}
case ${1-} in
--fetch | --build | --write) ;;
--generate)
	used=$("$0")
	(cd "$(dirname "$0")/../.." && tests/machines/inroot "$self" --write "/src/$used")
	echo "$used"
	exit ;;
'')
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"
	root=$("$here/root.sh" check)
	# Of the build root, and of this recipe
	name=libpfm4-$version-$({ echo "$root" && sed -n '/^# --- Inside/,$p' "$0"; } |
		sha256sum | cut -c1-8)
	kept=$cache/$name.tar used=build/$name
	kept_find libpfm4

	echo "perfctr: fetching and building libpfm4: once, about a minute" >&2
	work=build/libpfm4-work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -w "$self" --fetch "/src/$work" &&
		tests/machines/inroot "$self" --build "/src/$work") >&2 9>&- || {
		echo "perfctr: libpfm4 could not be had" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'libpfm4-*.tar'
	exit ;;
*)
	echo "usage: libpfm4.sh [--generate]" >&2
	exit 2 ;;
esac

# --- Inside of a build root

cd "$2"
case $1 in
--fetch)
	# Debian 12 has that version.
	sed 's/^deb /deb-src /; s/ trixie / bookworm /' /etc/apt/sources.list >/etc/apt/sources.list.d/src.list
	log=$(mktemp)
	{ apt-get -q update && apt-get -q source --download-only "libpfm4=$version"; } >"$log" 2>&1 ||
		{ cat "$log"; exit 1; }
	echo "$hash  $(ls libpfm4_*.orig.tar.gz)" | sha256sum -c --quiet ;;
--build)
	mkdir source
	tar -x -f libpfm4_*.orig.tar.gz -C source --strip-components=1
	# A static library, also of the processors that run code of 32 bits only
	make -s -C source/lib CONFIG_PFMLIB_SHARED=n CONFIG_PFMLIB_ARCH_I386=y OPTIM=-O1 DBG=-w \
		>log 2>&1 ||
		{ cat log; exit 1; }
	rm -f source/lib/*.o
	tar -c -f kept.tar -C source COPYING README include lib ;;
--write)
	generate=$(mktemp)
	gcc -O1 -Wall -Wextra -Werror -isystem "$2/lib" -isystem "$2/include" -o "$generate" \
		/src/lib/events/generate.c /src/lib/events/print.c
	for set in $sets; do
		"$generate" "$set" >"/tmp/$set.inc"
	done
	cp /tmp/*.inc /src/lib/events ;;
esac
