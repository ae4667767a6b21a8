#!/bin/sh
# usage: build.sh
#
# Makes qemu-system-riscv64 from the source of the Debian package that is in the
# build root, with the patches that are here, and prints where it is, relative
# to the checkout. It is made once for each set of inputs and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../../.." && pwd)
	cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}/perfctr}

	# The root's name has its recipe's hash, but its packages can be newer.
	root=$("$here/../root.sh" trixie)
	version=$(dpkg-query --admindir="$root/var/lib/dpkg" \
		-f '${source:Version}' -W qemu-system-riscv)
	key=$(cd "$here" && { echo "$version"; cat build.sh ./*.patch; } |
		sha256sum | cut -c1-16)
	name=qemu-system-riscv64-$key
	kept=$cache/$name used=build/qemu/$name

	# The build root sees the checkout only, so that is where it is used.
	use() {
		touch -c "$kept" 2>/dev/null || :
		[ -x "$top/$used" ] || {
			mkdir -p "$top/build/qemu"
			cp "$kept" "$top/$used.$$"
			mv "$top/$used.$$" "$top/$used"
		}
		echo "$used"
	}
	[ ! -x "$kept" ] || { use; exit; }

	mkdir -p "$cache"
	exec 9>"$cache/qemu.lock"
	flock -n 9 || { echo "perfctr: another run is building QEMU: waiting" >&2; flock 9; }
	[ ! -x "$kept" ] || { use; exit; }

	echo "perfctr: building QEMU $version with patches: once, some minutes" >&2
	work=build/qemu/work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -w "/src/${0#"$top"/}" \
		--inside "$version" "/src/$work") >&2 9>&- || {
		echo "perfctr: QEMU could not be built" >&2
		exit 1
	}
	cp "$top/$work/qemu-system-riscv64" "$kept.tmp"
	mv "$kept.tmp" "$kept"
	use

	# Those of older recipes, which nothing has used for a month.
	find "$cache" -maxdepth 1 -type f -name 'qemu-system-*' -mtime +30 -delete
	exit
fi

# --- Inside of the build root, which may be written to.

version=$2
cd "$3"
say() { echo "perfctr: QEMU: $*" >&2; }
quiet() { "$@" >>log 2>&1 || { tail -n 40 log >&2; exit 1; }; }

say "fetching the source"
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
export APT_CONFIG=/tmp/apt.conf DEBIAN_FRONTEND=noninteractive
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
quiet apt-get -q update
quiet apt-get -qy install --no-install-recommends bison flex libfdt-dev \
	libglib2.0-dev meson ninja-build pkg-config python3-pycotap python3-venv
# A mirror keeps the newest only, and a build root can be older.
apt-get -qqy source "qemu=$version" >>log 2>&1 ||
	{ say "$version is gone, taking the newest"; quiet apt-get -qy source qemu; }
mv qemu-*/ src
for p in /src/tests/machines/qemu/*.patch; do
	say "applying ${p##*/}"
	quiet patch -d src -p1 --batch --forward --fuzz=0 -i "$p"
done

# Debian's source is without firmware, which is in packages of its own and is
# found where those have put it. Of the machines and devices, that one needs few.
say "configuring"
echo CONFIG_RISCV_VIRT=y >src/configs/devices/riscv64-softmmu/virt-only.mak
mkdir b
cd b
quiet ../src/configure --target-list=riscv64-softmmu --prefix=/usr \
	--disable-relocatable --disable-install-blobs --disable-download \
	--without-default-features --enable-system --enable-tcg \
	--enable-fdt=system --disable-debug-info \
	--without-default-devices --with-devices-riscv64=virt-only
say "compiling"
{ ninja qemu-system-riscv64 || touch failed; } | awk '
	{ print >"log" }
	/^FAILED/ { bad = 1 }
	bad && n++ < 40
	match($0, /^\[[0-9]+\/[0-9]+\]/) && NR % 200 == 0 {
		print "perfctr: QEMU: " substr($0, 1, RLENGTH)
		fflush()
	}' >&2
[ ! -e failed ]
mv qemu-system-riscv64 ..
