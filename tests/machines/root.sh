#!/bin/sh
# usage: root.sh [--there] demo|check|full|testing|bookworm
#
# Makes a build root, once, and prints where it is; with --there it makes nothing, and its status
# says whether there is one. Everything that perfctr is built,
# checked and emulated with comes from here and not from the host, so that Debian 12 and
# 13 hosts give the same results.
#
# Three are of Debian 13 (trixie), and each is a layer over the one before: `demo` has what
# the demo needs, `check` adds the rest of what `make check` needs, `full` the rest. So what is
# printed are directories, as overlayfs takes them: the uppermost first, with colons.
set -eu

there=''
[ "${1-}" != --there ] || { there=--there; shift; }
name=${1-}
here=$(cd "$(dirname "$0")" && pwd)
# A directory of our own, as what nothing uses there for a month is removed
cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}}/perfctr

case $cache in
[!/]*) echo "perfctr: the cache must be named by a path that begins with /, but it is '$cache'" >&2; exit 1 ;;
*[:,]*) echo "perfctr: overlayfs takes no directory with a colon or a comma in its name: $cache" >&2; exit 1 ;;
esac
say() { echo "perfctr: $*" >&2; }
die() { say "$*"; exit 1; }

suite=$name below='' architectures=amd64 alias='' month='' hooks=''
case $name in
demo)
	packages="make ccache cpio kmod python3 xz-utils gcc-riscv64-linux-gnu libc6-dev:riscv64
		qemu-system-riscv opensbi busybox-static"
	suite=trixie architectures='amd64 riscv64' alias=stable kernels=riscv64 about='700 MB, half a minute' ;;
check)
	packages="gcc libc6-dev perl gawk pkg-config zstd check check:riscv64 libdw-dev libpfm4-dev
		seabios device-tree-compiler mandoc shellcheck"
	below=demo suite=trixie kernels=amd64 hooks=root-checkpatch.sh about='500 MB, half a minute' ;;
full)
	# Of 32-bit PowerPC Debian has a compiler and a C library only; root-ppc32.sh and
	# linux.sh make the rest.
	packages="gcc-aarch64-linux-gnu libc6-dev:arm64 check:arm64
		gcc-powerpc-linux-gnu libc6-dev-powerpc-cross
		qemu-system-x86 qemu-system-arm qemu-system-ppc
		dkms clang-tidy libclang-rt-19-dev sparse
		g++ clang python3-dev python3-setuptools python3-cffi rustc cargo
		libbenchmark-dev libpapi-dev abigail-tools musl-tools"
	below=check suite=trixie architectures='amd64 riscv64 arm64' kernels='arm64 rt-amd64' hooks=root-ppc32.sh
	about='2 GB, some minutes' ;;
testing)
	# Only for building modules, also by dkms; what boots them is in trixie's root.
	packages='gcc libc6-dev make ccache kmod perl python3 dkms gcc-riscv64-linux-gnu'
	architectures='amd64 riscv64' kernels='amd64 riscv64'
	# A stable suite changes rarely and compatibly.
	month=$(date +%Y-%m) about='900 MB, a minute' ;;
bookworm)
	# The same. It has no riscv64, but the last kernel for i386, and the last
	# programs for an i386 without SSE2: so those are built here as well.
	packages='gcc libc6-dev make ccache cpio kmod perl python3 dkms gcc-i686-linux-gnu libc6-dev:i386 check:i386'
	architectures='amd64 i386' alias=oldstable kernels='amd64 686-pae' about='700 MB, a minute' ;;
*)
	die "usage: root.sh demo|check|full|testing|bookworm" ;;
esac

lower=''
# shellcheck disable=SC2086 # none or one word
[ -z "$below" ] || lower=$("$0" $there "$below")
key=$(printf '%s\n' "$name" "$packages" "$architectures" "$kernels" "$month" "$(echo "$lower" | tr : '\n' | sed 's,.*/,,')" |
	cat - "$0" "$here/root-kernels.sh" ${hooks:+"$here/$hooks"} | sha256sum | cut -c1-16)
root=$cache/$name-$key

found() {
	# This is how the clean-up below knows which roots are in use.
	touch -c "$root" 2>/dev/null || :
	echo "$root${lower:+:$lower}"
}
[ ! -d "$root" ] || { found; exit; }
[ -z "$there" ] || exit 1

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
exec 9>"$cache/$name.lock"
flock -n 9 || { say "another run is making the build root '$name': waiting"; flock 9; }
[ ! -d "$root" ] || { found; exit; }

say "making the build root '$name' in $cache: once, $about"
tmp=$cache/$name.tmp
$sudo rm -rf --one-file-system "$tmp" # a run that was killed
trap '$sudo rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# A layer: what is installed is written to $tmp/upper. The private mount namespace keeps what is
# mounted from outliving it.
make_layer() {
	# shellcheck disable=SC2016 # meant for the inner shell
	$sudo unshare --mount --propagation private sh -euc '
		tmp=$1 lower=$2 here=$3 packages=$4 architectures=$5 kernels=$6 hooks=$7
		mkdir -p "$tmp/upper" "$tmp/work" "$tmp/root"
		mount -t overlay -o "lowerdir=$lower,upperdir=$tmp/upper,workdir=$tmp/work" overlay "$tmp/root" || {
			echo "perfctr: $tmp is on a file system that overlayfs cannot write to;" \
				"PERFCTR_CACHE names another place" >&2
			exit 1
		}
		cd "$tmp/root"
		mount -t proc proc proc
		mount --rbind /dev dev
		cp /etc/resolv.conf etc/resolv.conf 2>/dev/null || :
		mkdir -p tmp/hooks
		for hook in root-kernels.sh $hooks; do
			cp "$here/$hook" tmp/hooks
		done
		chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive sh -euc "
			for a in $architectures; do
				[ \$a = amd64 ] || dpkg --add-architecture \$a
			done
			apt-get -qq update
			apt-get -qqy install --no-install-recommends $(echo $packages)
			sh /tmp/hooks/root-kernels.sh $kernels
			for hook in $hooks; do
				sh /tmp/hooks/\$hook
			done
			apt-get clean
			rm -rf /var/lib/apt/lists/* /tmp/hooks"
		' layer "$tmp" "$lower" "$here" "$packages" "$architectures" "$kernels" "$hooks" >"$tmp.log" 2>&1 || {
		tail -n 40 "$tmp.log" >&2
		return 1
	}
	rm -f "$tmp.log"
}

# The lowest one. A moving suite's index can be past its date.
make_root() { # the suite's name on the mirror
	$sudo rm -rf --one-file-system "$tmp"
	# shellcheck disable=SC2016,SC2086 # $1 is mmdebstrap's; words are meant
	$sudo unshare --mount mmdebstrap --mode=root --variant=minbase \
		--architectures="$(echo $architectures | tr ' ' ,)" \
		--include="$(echo $packages | tr ' ' ,)" \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Sandbox::User "root"' \
		--dpkgopt='force-unsafe-io' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/info/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--customize-hook="[ $1 = $suite ] ||
			grep -qx VERSION_CODENAME=$suite \"\$1/etc/os-release\"" \
		--customize-hook="copy-in $here/root-kernels.sh /tmp" \
		--customize-hook="chroot \"\$1\" sh /tmp/root-kernels.sh $kernels" \
		--customize-hook='mkdir "$1/src" "$1/other" "$1/ccache"' \
		"$1" "$tmp" ${mirror:+"$mirror"} >"$tmp.log" 2>&1 || {
		tail -n 40 "$tmp.log" >&2
		return 1
	}
	rm -f "$tmp.log"
}

if [ "$below" ]; then
	mkdir "$tmp"
	make_layer || die "the build root '$name' could not be made"
	$sudo mv -T "$tmp/upper" "$root"
else
	if ! command -v mmdebstrap >/dev/null; then
		say "installing mmdebstrap with apt-get"
		# apt has a lock of its own, for which it does not wait.
		exec 8>"$cache/apt.lock"
		flock 8
		{ command -v mmdebstrap || $sudo apt-get -qq update && $sudo env DEBIAN_FRONTEND=noninteractive \
			apt-get -qqy install --no-install-recommends mmdebstrap; } >"$tmp.log" 2>&1 ||
			{ cat "$tmp.log" >&2; die "mmdebstrap is needed and could not be installed"; }
	fi
	# One mirror and one suite: the indices of -updates and -security can be of
	# different age for amd64 and riscv64, and then packages of the two that must
	# have the same version do not. Without an answer, mmdebstrap has its own idea.
	# shellcheck disable=SC2016 # apt-get expands it
	mirror=$(apt-get indextargets --format '$(REPO_URI)' \
		'Origin: Debian' 'Label: Debian' | head -n 1)
	# In the days after a point release a mirror may have the new indices of one
	# architecture and the old ones of another. By its other name the suite may
	# still be whole there.
	make_root "$suite" || { [ "$alias" ] && make_root "$alias"; } ||
		die "the build root '$name' could not be made"
	$sudo mv -T "$tmp" "$root"
fi
say "the build root '$name' is ready"

# Those of older recipes, which nothing has used for a month.
find "$cache" -maxdepth 1 -type d -name "$name-*" -mtime +30 \
	-exec $sudo rm -rf --one-file-system {} +

found
