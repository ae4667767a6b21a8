#!/bin/sh
# usage: build.sh x86_64|others|asan
#
# Makes QEMU from the source of the Debian package that is in the build root, with the
# patches that are here, and prints the directory in which it is, relative to the checkout:
# qemu-system-x86_64; qemu-system-riscv64, -aarch64 and -ppc; or qemu-system-x86_64 with
# AddressSanitizer. Each is made once for each set of inputs and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../../.." && pwd)
	cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}}/perfctr

	what=${1-}
	case $what in
	x86_64 | others | asan) ;;
	*) echo "usage: build.sh x86_64|others|asan" >&2; exit 2 ;;
	esac

	# The root's name has its recipe's hash, but its packages can be newer.
	root=$("$here/../root.sh" check)
	version=$(dpkg-query --admindir="${root%%:*}/var/lib/dpkg" \
		-f '${source:Version}' -W qemu-system-riscv)
	key=$what-$(cd "$here" && { echo "$version"; cat build.sh ./*.patch; } |
		sha256sum | cut -c1-16)
	kept=$cache/qemu-$key used=build/qemu/$key

	# The build root sees the checkout only, so that is where it is used.
	use() {
		touch -c "$kept" 2>/dev/null || :
		[ -d "$top/$used" ] || {
			mkdir -p "$top/build/qemu"
			cp -a "$kept" "$top/$used.$$"
			mv -T "$top/$used.$$" "$top/$used" 2>/dev/null ||
				rm -rf "${top:?}/$used.$$" # another was first
		}
		echo "$used"
	}
	[ ! -d "$kept" ] || { use; exit; }

	mkdir -p "$cache"
	exec 9>"$cache/qemu.lock"
	flock -n 9 || { echo "perfctr: another run is building QEMU: waiting" >&2; flock 9; }
	[ ! -d "$kept" ] || { use; exit; }

	echo "perfctr: building QEMU $version with patches ($what): once, some minutes" >&2
	work=build/qemu/work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	(cd "$top" && tests/machines/inroot -w /src/tests/machines/qemu/build.sh \
		--inside "$version" "/src/$work" "$what") >&2 9>&- || {
		echo "perfctr: QEMU could not be built" >&2
		exit 1
	}
	rm -rf "$kept.tmp"
	mkdir "$kept.tmp"
	find "$top/$work/b" -maxdepth 1 -type f -name 'qemu-system-*' -exec cp {} "$kept.tmp" \;
	mv -T "$kept.tmp" "$kept"
	use

	# Those of older recipes, which nothing has used for a month.
	find "$cache" -maxdepth 1 -name 'qemu-*' -mtime +30 -exec rm -rf {} +
	exit
fi

# --- Inside of the build root, which may be written to.

# Of a new patch only what it changes is compiled again.
PATH=/usr/lib/ccache:$PATH
version=$2 asan=''
case $4 in
x86_64) targets=x86_64 ;;
others) targets='riscv64 aarch64 ppc' ;;
asan) targets=x86_64 asan=y ;;
esac
cd "$3"
say() { echo "perfctr: QEMU: $*" >&2; }
quiet() { "$@" >>log 2>&1 || { tail -n 40 log >&2; exit 1; }; }

say "fetching the source"
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
export APT_CONFIG=/tmp/apt.conf DEBIAN_FRONTEND=noninteractive
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
quiet apt-get -q update
quiet apt-get -qy install --no-install-recommends bison dpkg-dev flex libfdt-dev \
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
# found where those have put it. Of the machines and devices few are needed.
say "configuring"
echo CONFIG_RISCV_VIRT=y >src/configs/devices/riscv64-softmmu/few.mak
printf 'CONFIG_Q35=y\nCONFIG_SERIAL_ISA=y\n' >src/configs/devices/x86_64-softmmu/few.mak
echo CONFIG_ARM_VIRT=y >src/configs/devices/aarch64-softmmu/few.mak
# A mac99 has USB, whether one wants it or not.
printf 'CONFIG_MAC_NEWWORLD=y\nCONFIG_USB_OHCI_PCI=y\n' >src/configs/devices/ppc-softmmu/few.mak
# What is not executed for each instruction of a guest need not be fast, and is compiled in half
# the time: of a thousand files 800 ...
cat >cc <<\EOF
#!/bin/sh
for word; do
	case $word in
	../src/accel/* | ../src/tcg/* | ../src/target/* | ../src/fpu/* | ../src/util/* | ../src/system/*)
		exec gcc "$@" ;;
	esac
done
exec gcc "$@" -O0 -U_FORTIFY_SOURCE
EOF
chmod +x cc
mkdir b
cd b
quiet ../src/configure --prefix=/usr \
	--target-list="$(echo "$targets" | sed 's/ /-softmmu,/g')-softmmu" ${asan:+--enable-asan} --cc="$PWD/../cc" \
	--disable-relocatable --disable-install-blobs --disable-download \
	--firmwarepath=/usr/share/qemu:/usr/share/seabios \
	--without-default-features --enable-system --enable-tcg \
	--enable-fdt=system --disable-debug-info \
	--without-default-devices --with-devices-riscv64=few --with-devices-x86_64=few \
	--with-devices-aarch64=few --with-devices-ppc=few
say "compiling"
# shellcheck disable=SC2046,SC2086 # words
{ ninja $(printf 'qemu-system-%s ' $targets) || touch failed; } | awk '
	{ print >"log" }
	/^FAILED/ { bad = 1 }
	bad && n++ < 40
	match($0, /^\[[0-9]+\/[0-9]+\]/) && NR % 200 == 0 {
		print "perfctr: QEMU: " substr($0, 1, RLENGTH)
		fflush()
	}' >&2
[ ! -e failed ]
