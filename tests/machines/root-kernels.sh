#!/bin/sh
# Runs inside a build root that is being made: adds Debian's kernels for amd64,
# riscv64, arm64, amd64 with PREEMPT_RT and i386, as far as it has them, their headers,
# a static busybox for riscv64, arm64 and i386, and checkpatch.
#
# They are unpacked and not installed. The headers of riscv64 and arm64 depend on
# a compiler of theirs, which would not run here, and installing an image
# would make an initramfs that nobody boots. Nothing of two architectures
# collides, so everything is where the packages put it, and as
# /boot/kernel-FLAVOUR and /usr/src/headers-FLAVOUR.
set -eu

# So that apt does not complain about its own unprivileged user.
export APT_CONFIG=/tmp/apt.conf
echo 'APT::Sandbox::User "root";' >$APT_CONFIG

dir=$(mktemp -d)
cd "$dir"

architecture() { # flavour -> Debian's name of its architecture
	case $1 in
	rt-*) echo "${1#rt-}" ;;
	# 686 without PAE is for a few processors that are none of ours; this is
	# what Debian has for the Pentium Pro and all that came after it.
	686-pae) echo i386 ;;
	*) echo "$1" ;;
	esac
}

version() { # flavour -> 6.12.107+deb13-riscv64
	apt-cache depends "linux-headers-$1:$(architecture "$1")" |
		sed -n 's/^ *Depends: linux-headers-\([0-9].*-'"$1"'\)\(:.*\)\?$/\1/p'
}

has() { apt-cache show "$1" >/dev/null 2>&1; }

flavours=''
for flavour in amd64 riscv64 arm64 rt-amd64 686-pae; do
	! has "linux-headers-$flavour:$(architecture "$flavour")" ||
		flavours="$flavours $flavour"
done
for flavour in $flavours; do
	arch=$(architecture "$flavour")
	v=$(version "$flavour")
	# From 7.x on the image is split.
	if has "linux-binary-$v:$arch"; then
		image="linux-binary-$v:$arch linux-modules-$v:$arch linux-base-$v:$arch"
	else
		image="linux-image-$v:$arch"
	fi
	# shellcheck disable=SC2086 # words
	apt-get download -qq $image "linux-headers-$v:$arch"
	# Until 7.x RT has common headers of its own.
	apt-get download -qq "$(dpkg-deb -f "linux-headers-${v}_"*.deb Depends |
		grep -o 'linux-headers-[^ ,:]*-common[^ ,:]*')"
done
base=${v%-"$flavour"} # 6.12.107+deb13
# The kernels' scripts come as programs, which must be those of the build
# machine for either architecture.
# shellcheck disable=SC2046 # words
apt-get install -qq --no-install-recommends \
	$(for deb in linux-headers-*.deb; do dpkg-deb -f "$deb" Depends; done |
		grep -o 'linux-kbuild-[^ ,:]*' | sort -u)

if has busybox-static:riscv64 && [ -x /usr/bin/busybox ]; then
	apt-get download -qq busybox-static:riscv64
	! has busybox-static:arm64 || apt-get download -qq busybox-static:arm64
elif has busybox-static:i386; then
	apt-get download -qq busybox-static:i386
fi

for deb in *.deb; do
	case $deb in
	busybox-static_*)
		arch=${deb##*_}
		dpkg -x "$deb" bb
		# In /bin up to Debian 12
		cp "$(find bb -path '*/bin/busybox')" "/usr/bin/busybox-${arch%.deb}" ;;
	*)
		# tar, because dpkg -x would replace the symbolic link /lib.
		# Of the drivers none is on our machines, but kvm_amd needs ccp.
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C / --keep-directory-symlink --no-overwrite-dir \
			--exclude='*/kernel/drivers/[!c]*' --exclude='*/kernel/drivers/c[!r]*' \
			--exclude='*/kernel/drivers/crypto/[!c]*' \
			--exclude='*/kernel/drivers/crypto/c[!c]*' --exclude='*/kernel/sound' \
			--exclude='*/kernel/net' --exclude='*/kernel/fs' \
			--exclude='./usr/share/doc' --exclude='*/modules/*/dtb' \
			--exclude='./usr/lib/linux-image-*' ;;
	esac
done

# Short names for the rest of the scripts.
for m in /usr/lib/modules/*; do
	v=${m##*/}
	case $v in
	*-rt-amd64) flavour=rt-amd64 ;;
	*-686-pae) flavour=686-pae ;;
	*) flavour=${v##*-} ;;
	esac
	depmod "$v"
	ln -s "linux-headers-$v" "/usr/src/headers-$flavour"
	for image in "$m"/vmlinuz /boot/vmlinu[xz]-"$v"; do
		[ ! -e "$image" ] || ln -sr "$image" "/boot/kernel-$flavour"
	done
done

# The root that lints gets checkpatch, which only the whole source has.
if [ -x /usr/bin/sparse ]; then
	v=${base%%+*}
	apt-get download -qq "linux-source-${v%.*}"
	dpkg-deb --fsys-tarfile linux-source-*.deb |
		tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
		xz -d -T0 |
		tar -x -C /opt --strip-components=2 --wildcards \
		'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
		'*/scripts/const_structs.checkpatch'
fi

cd /
rm -rf "$dir"
