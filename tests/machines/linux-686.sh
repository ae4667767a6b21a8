#!/bin/sh
# usage: linux-686.sh
#
# Downloads Debian 12's kernel for processors without PAE, which is in no build root: Pentiums and their clones
# have nothing else. It is of the version of the other kernels there, whose common headers it needs. Prints
# where it is, as linux.sh does: a directory with the kernel itself (`image`), its `.config`, and what modules
# are built against. It is downloaded once for each version and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"

	root=/
	[ "${INROOT-}" ] || root=$("$here/root.sh" bookworm)
	# 6.1.0-50
	version=$(readlink "$root/usr/src/headers-686-pae" | sed 's/^linux-headers-//; s/-686-pae$//')
	[ "$version" ] || { echo "linux-686.sh: the build root has no kernel of i386's" >&2; exit 1; }
	key=$({ echo "$version"; sed -n '/^# --- Inside/,$p' "$here/linux-686.sh"; } |
		sha256sum | cut -c1-16)
	name=linux-686-$key
	kept=$cache/$name.tar used=build/linux/$name

	# In the root there is no cache.
	[ -z "${INROOT-}" ] || [ ! -d "$top/$used" ] || { echo "$used"; exit; }
	kept_find linux-686 "another run is downloading a kernel: waiting"

	echo "perfctr: downloading the kernel $version-686: once" >&2
	work=build/linux/work-686
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -r bookworm -w /src/tests/machines/linux-686.sh \
		--inside "$version" "/src/$work") >&2 9>&- || {
		echo "perfctr: the kernel $version-686 could not be had" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'linux-686-*.tar'
	exit
fi

# --- Inside of the build root, which may be written to.

version=$2-686
cd "$3"
export APT_CONFIG=/tmp/apt.conf
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
apt-get -q update >log 2>&1 || { cat log; exit 1; }
apt-get -q download "linux-image-$version:i386" "linux-headers-$version:i386" >log 2>&1 ||
	{ cat log; exit 1; }
mkdir files kept
for deb in *.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C files --exclude='*/kernel/drivers' --exclude='*/kernel/sound' \
		--exclude='*/kernel/net' --exclude='*/kernel/fs'
done
cp -a "files/usr/src/linux-headers-$version/." kept
cp "files/boot/vmlinuz-$version" kept/image
mkdir -p kept/arch/x86/kernel
cp "$(find files -name msr.ko)" kept/arch/x86/kernel
# Relative to where the package would have put them
for link in scripts tools; do
	ln -sfn "/usr/src/$(readlink "kept/$link" | sed 's,.*/\(linux-kbuild[^/]*/\),\1,')" "kept/$link"
done
if [ ! -d kept/scripts/. ] || [ ! -e "$(sed -n 's/^include //p' kept/Makefile)" ]; then
	echo "the build root has other common headers"
	exit 1
fi
tar -c -f kept.tar -C kept .
