#!/bin/sh
# usage: root.sh trixie|testing|bookworm
#
# Makes a build root, once, and prints its path. Everything that perfctr is
# built, checked and emulated with comes from here and not from the host, so
# that Debian 12 and 13 hosts give the same results.
set -eu

suite=${1-}
here=$(cd "$(dirname "$0")" && pwd)
cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}/perfctr}

say() { echo "perfctr: $*" >&2; }
die() { say "$*"; exit 1; }

common='gcc libc6-dev make ccache cpio kmod perl python3'
architectures=amd64,riscv64 alias=''
case $suite in
trixie)
	# Of 32-bit PowerPC Debian has a compiler and a C library only; root-ppc32.sh and
	# linux.sh make the rest.
	packages="$common gcc-riscv64-linux-gnu gcc-aarch64-linux-gnu xz-utils zstd gawk pkg-config
		libc6-dev:riscv64 libc6-dev:arm64 check check:riscv64 check:arm64
		gcc-powerpc-linux-gnu libc6-dev-powerpc-cross
		qemu-system-riscv opensbi qemu-system-x86 seabios qemu-system-arm qemu-system-ppc
		busybox-static device-tree-compiler
		dkms clang-tidy libclang-rt-19-dev libdw-dev mandoc shellcheck sparse
		g++ clang python3-dev python3-setuptools python3-cffi rustc cargo
		libpfm4-dev libbenchmark-dev libpapi-dev abigail-tools"
	architectures=amd64,riscv64,arm64
	alias=stable
	# A stable suite changes rarely and compatibly.
	month= ;;
testing)
	# Only for building modules, also by dkms; what boots them is in trixie's root.
	packages="$common dkms gcc-riscv64-linux-gnu"
	month=$(date +%Y-%m) ;;
bookworm)
	# The same. It has no riscv64, but the last kernel for i386, and the last
	# programs for an i386 without SSE2: so those are built here as well.
	packages="$common dkms gcc-i686-linux-gnu libc6-dev:i386 check:i386"
	architectures=amd64,i386
	alias=oldstable
	month= ;;
*)
	die "usage: root.sh trixie|testing|bookworm" ;;
esac

key=$(printf '%s\n' "$suite" "$packages" "$architectures" "$month" |
	cat - "$0" "$here/root-kernels.sh" "$here/root-ppc32.sh" | sha256sum | cut -c1-16)
root=$cache/$suite-$key

if [ -d "$root" ]; then
	# This is how the clean-up below knows which roots are in use.
	touch -c "$root" 2>/dev/null || :
	echo "$root"
	exit
fi

# --- It has to be made.

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
	die "build roots can only be made on Debian for amd64"
if [ "$(id -u)" = 0 ]; then
	sudo=
elif command -v sudo >/dev/null; then
	sudo=sudo
else
	die "making a build root needs root; there is no sudo"
fi

mkdir -p "$cache"
exec 9>"$cache/$suite.lock"
flock -n 9 || { say "another run is making this build root: waiting"; flock 9; }
if [ -d "$root" ]; then
	echo "$root"
	exit
fi

if ! command -v mmdebstrap >/dev/null; then
	say "installing mmdebstrap with apt-get"
	{ $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends mmdebstrap; } >&2 ||
		die "mmdebstrap is needed and could not be installed"
fi

# One mirror and one suite: the indices of -updates and -security can be of
# different age for amd64 and riscv64, and then packages of the two that must
# have the same version do not. Without an answer, mmdebstrap has its own idea.
# shellcheck disable=SC2016 # apt-get expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' \
	'Origin: Debian' 'Label: Debian' | head -n 1)

say "making the build root '$suite' in $cache: once, some minutes, 2 GB"
tmp=$cache/$suite.tmp
$sudo rm -rf --one-file-system "$tmp" # a run that was killed
trap '$sudo rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# A moving suite's index can be past its date. The private mount namespace
# keeps what mmdebstrap mounts from outliving it.
make_root() { # the suite's name on the mirror
	$sudo rm -rf --one-file-system "$tmp"
	# shellcheck disable=SC2016,SC2086 # $1 is mmdebstrap's; words are meant
	$sudo unshare --mount mmdebstrap --mode=root --variant=minbase \
		--architectures="$architectures" \
		--include="$(echo $packages | tr ' ' ,)" \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Retries "3"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/info/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--customize-hook="[ $1 = $suite ] ||
			grep -qx VERSION_CODENAME=$suite \"\$1/etc/os-release\"" \
		--customize-hook="copy-in $here/root-kernels.sh $here/root-ppc32.sh /tmp" \
		--customize-hook='chroot "$1" sh /tmp/root-kernels.sh' \
		--customize-hook='chroot "$1" sh /tmp/root-ppc32.sh' \
		--customize-hook='mkdir "$1/src" "$1/other" "$1/ccache"' \
		"$1" "$tmp" ${mirror:+"$mirror"} >&2
}

# In the days after a point release a mirror may have the new indices of one
# architecture and the old ones of another. By its other name the suite may
# still be whole there.
make_root "$suite" || { [ "$alias" ] && make_root "$alias"; } ||
	die "the build root '$suite' could not be made"

$sudo mv -T "$tmp" "$root"
say "build root '$suite' is ready"

# Roots of older recipes, which nothing has used for a month.
find "$cache" -maxdepth 1 -type d -name "$suite-*" -mtime +30 \
	-exec $sudo rm -rf --one-file-system {} +

echo "$root"
