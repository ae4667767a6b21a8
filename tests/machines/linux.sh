#!/bin/sh
# usage: linux.sh KERNEL
#
# Makes a small kernel that Debian has not: riscv64-debug, riscv64-rt, x86_64-debug,
# x86_64-kcsan and ppc32-debug check themselves; ppc32 and ppc32-plain are for an
# architecture that Debian has no kernel for. The source is that of Debian's kernel of the
# version that is in the build root. Prints where the kernel is, relative to the checkout: a
# directory with the kernel itself (`image`), its `.config`, and what modules are built
# against. It is made once for each set of inputs and kept in the cache.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"
	kernel=${1?usage: linux.sh KERNEL}
	# Debian has it, but no build root.
	case $kernel in
	686 | 5.10) exec "$here/linux-$kernel.sh" ;;
	esac

	case $kernel in
	riscv64-debug | x86_64-debug)
		configs="debug/machine debug/common debug/preempt debug/kasan debug/${kernel%-*}" ;;
	x86_64-kcsan)
		configs="debug/machine debug/common debug/preempt debug/kcsan debug/x86_64" ;;
	# Debian has one for amd64 only.
	riscv64-rt) configs="debug/machine debug/common debug/rt debug/riscv64" ;;
	ppc32) configs="ppc32/common ppc32/notifiers ppc32/perf" ;;
	ppc32-plain) configs="ppc32/common ppc32/plain" ;;
	ppc32-debug) configs="ppc32/common ppc32/debug ppc32/perf debug/common debug/kasan" ;;
	*) echo "linux.sh: no kernel '$kernel'" >&2; exit 2 ;;
	esac

	# The root's name has its recipe's hash, but its packages can be newer.
	root=/
	[ "${INROOT-}" ] || root=$("$here/root.sh" full)
	query() { dpkg-query --admindir="${root%%:*}/var/lib/dpkg" -f '${source:Version}\n' -W "$1"; }
	version=$(query 'linux-kbuild-*' | tail -n 1)
	compiler=$(query 'gcc-14*linux-gnu' | sort -u | tr '\n' ' ')
	# shellcheck disable=SC2086 # words
	key=$(cd "$here" && {
		echo "$kernel $version $compiler"
		sed -n '/^# --- Inside/,$p' linux.sh
		for c in $configs; do
			cat "$c.config"
			[ ! -e "$c.patch" ] || cat "$c.patch"
		done
	} | sha256sum | cut -c1-16)
	name=linux-$kernel-$key
	kept=$cache/$name.tar used=build/linux/$name

	# In the root there is no cache.
	[ -z "${INROOT-}" ] || [ ! -d "$top/$used" ] || { echo "$used"; exit; }
	kept_find linux "another run is building a kernel: waiting"

	echo "perfctr: building the kernel $kernel: once, five to ten minutes, 2 GB meanwhile" >&2
	work=build/linux/work
	rm -rf "${top:?}/$work"
	mkdir -p "$top/$work"
	trap 'rm -rf "${top:?}/$work"' EXIT
	trap 'exit 1' HUP INT TERM
	# shellcheck disable=SC2086 # words
	(cd "$top" && tests/machines/inroot -r full -w /src/tests/machines/linux.sh \
		--inside "$version" "/src/$work" "${kernel%%-*}" $configs) >&2 9>&- || {
		echo "perfctr: the kernel $kernel could not be built" >&2
		exit 1
	}
	kept_put "$top/$work/kept.tar" 'linux-*.tar'
	exit
fi

# --- Inside of the build root, which may be written to.

version=$2 arch=$4
cd "$3"
shift 4
here=/src/tests/machines
say() { echo "perfctr: linux: $*" >&2; }
quiet() { "$@" >>log 2>&1 || { tail -n 40 log >&2; exit 1; }; }

case $arch in
riscv64) srcarch=riscv gnu=riscv64 image=arch/riscv/boot/Image ;;
x86_64) srcarch=x86 gnu=x86_64 image=arch/x86/boot/bzImage ;;
ppc32) srcarch=powerpc gnu=powerpc image=vmlinux ;;
esac
nice="nice -n 19"

say "fetching the source"
"$here/linux-source.sh" "$version" >&2
export APT_CONFIG=/tmp/apt.conf DEBIAN_FRONTEND=noninteractive
quiet apt-get -qy install --no-install-recommends bc bison flex libelf-dev
# Most of it is drivers; the makefiles want to see the directories all the same.
mkdir linux
dpkg-deb --fsys-tarfile linux-source-*.deb |
	tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' | xz -d -T0 |
	tar -x -C linux --strip-components=1 --exclude='*/Documentation/*/*' \
	--exclude='*/tools/testing/*' --exclude='*/drivers/gpu/*.[ch]' \
	--exclude='*/drivers/media/*.[ch]' --exclude='*/drivers/net/*/*.[ch]' \
	--exclude='*/drivers/staging/*.[ch]' --exclude='*/sound/*.[ch]' \
	--exclude='*/boot/dts/*.dts' --exclude='*/boot/dts/*.dtsi'
rm -f linux-source-*.deb
cd linux

m() {
	# shellcheck disable=SC2086 # words
	$nice make -j"$(nproc)" ARCH=$srcarch CROSS_COMPILE="$gnu-linux-gnu-" \
		KBUILD_BUILD_USER=perfctr KBUILD_BUILD_HOST=perfctr "$@"
}

for c; do
	[ ! -e "$here/$c.patch" ] ||
		quiet patch -p1 --batch --forward --fuzz=0 -i "$here/$c.patch"
done

say "configuring"
for c; do
	cat "$here/$c.config"
done >wanted.config
quiet m KCONFIG_ALLCONFIG=wanted.config allnoconfig
# An option that could not be had disappears without a word.
lost=$(grep -E '^(CONFIG_|# CONFIG_[A-Z0-9_]+ is not set)' wanted.config |
	while read -r line; do
		case $line in
		"#"*)
			line=${line#"# "}
			! grep -q "^${line%% *}=" .config || echo "$line" ;;
		*)
			grep -qxF "$line" .config || echo "$line" ;;
		esac
	done)
[ -z "$lost" ] || {
	say "these options did not survive:"
	echo "$lost" >&2
	exit 1
}

say "compiling"
{ m "${image##*/}" modules || touch failed; } 2>&1 | awk '
	{ print >"log" }
	/^  CC / && ++n % 200 == 0 { print "perfctr: linux: " n " files"; fflush() }' >&2
[ ! -e failed ] || { grep -E -A 8 'error:|\*\*\* ' log | tail -n 60 >&2; exit 1; }

# As scripts/package/install-extmod-build chooses.
say "keeping what modules need"
cp "$image" image
{
	echo image
	echo .config
	echo Makefile
	echo Module.symvers
	find "arch/$srcarch" -maxdepth 1 -name 'Makefile*'
	find include "arch/$srcarch/include" scripts -type f ! -name '*.o' \
		! -name '.*.cmd' -o -type l
	[ ! -x tools/objtool/objtool ] || echo tools/objtool/objtool
	# PowerPC links it to each module.
	[ ! -e "arch/$srcarch/lib/crtsavres.o" ] || echo "arch/$srcarch/lib/crtsavres.o"
	find "arch/$srcarch/kernel" -name msr.ko
} | sort -u >../list
tar -c -f ../kept.tar -T ../list
