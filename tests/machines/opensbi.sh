#!/bin/sh
# usage: opensbi.sh
#
# Downloads Debian testing's OpenSBI, which answers otherwise than the one that QEMU brings along: see
# README.md. Prints where it is, as linux.sh does: a directory with `fw_dynamic.bin`. It is downloaded
# once and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"

	key=$(sed -n '/^# --- Inside/,$p' "$here/opensbi.sh" | sha256sum | cut -c1-16)
	name=opensbi-$key
	kept=$cache/$name.tar used=build/opensbi/$name

	# In the root there is no cache.
	[ -z "${INROOT-}" ] || [ ! -d "$top/$used" ] || { echo "$used"; exit; }
	kept_find opensbi "another run is downloading OpenSBI: waiting"

	echo "perfctr: downloading Debian testing's OpenSBI: once" >&2
	work=build/opensbi/work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -r testing -w /src/tests/machines/opensbi.sh \
		--inside "/src/$work") >&2 9>&- || {
		echo "perfctr: OpenSBI could not be had" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'opensbi-*.tar'
	exit
fi

# --- Inside of the build root, which may be written to.

cd "$2"
export APT_CONFIG=/tmp/apt.conf
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
apt-get -q update >log 2>&1 || { cat log; exit 1; }
apt-get -q download opensbi >log 2>&1 || { cat log; exit 1; }
mkdir kept
dpkg-deb --fsys-tarfile ./*.deb |
	tar -x -O ./usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin >kept/fw_dynamic.bin
[ -s kept/fw_dynamic.bin ]
tar -c -f kept.tar -C kept .
