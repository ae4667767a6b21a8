#!/bin/sh
# usage: linux-5.10.sh
#
# Downloads Debian 11's kernel: the last whose own driver of the Pentium 4 counts right, so that it is the witness
# of that model. Our module is not for it. Prints where it is, as linux.sh does: a directory with the kernel
# (`image`). It is downloaded once and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"

	key=$(sed -n '/^# --- Inside/,$p' "$here/linux-5.10.sh" | sha256sum | cut -c1-16)
	name=linux-5.10-$key
	kept=$cache/$name.tar used=build/linux/$name

	# In the root there is no cache.
	[ -z "${INROOT-}" ] || [ ! -d "$top/$used" ] || { echo "$used"; exit; }
	kept_find linux-5.10 "another run is downloading a kernel: waiting"

	echo "perfctr: downloading Debian 11's kernel: once" >&2
	work=build/linux/work-5.10
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -r bookworm -w /src/tests/machines/linux-5.10.sh \
		--inside "/src/$work") >&2 9>&- || {
		echo "perfctr: Debian 11's kernel could not be had" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'linux-5.10-*.tar'
	exit
fi

# --- Inside of the build root, which may be written to.

cd "$2"
export APT_CONFIG=/tmp/apt.conf
cat >$APT_CONFIG <<\EOF
APT::Sandbox::User "root";
Dir::Etc::SourceList "/tmp/sources.list";
Dir::Etc::SourceParts "-";
Acquire::Check-Valid-Until "false";
EOF
sed 's/ bookworm / bullseye /' /etc/apt/sources.list >/tmp/sources.list
apt-get -q update >log 2>&1 || { cat log; exit 1; }
image=$(apt-cache show linux-image-amd64 | sed -n 's/^Depends: \(linux-image-5[.]10[^ ]*\).*/\1/p' | head -n 1)
apt-get -q download "$image" >log 2>&1 || { cat log; exit 1; }
mkdir kept
dpkg-deb --fsys-tarfile ./*.deb | tar -x -O --wildcards './boot/vmlinuz-*' >kept/image
[ -s kept/image ]
tar -c -f kept.tar -C kept .
