#!/bin/sh
# usage: root-kernels.sh FLAVOUR...
#
# Runs inside a build root that is being made: adds Debian's kernels of these flavours (amd64,
# riscv64, arm64, rt-amd64, 686-pae), their headers, and a static busybox for riscv64, arm64
# or i386.
#
# They are unpacked and not installed. The headers of riscv64 and arm64 depend on
# a compiler of theirs, which would not run here, and installing an image
# would make an initramfs that nobody boots. Nothing of two architectures
# collides, so everything is where the packages put it, and as
# /boot/kernel-FLAVOUR and /usr/src/headers-FLAVOUR.
set -eu

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

# The kernels' own packages, and a busybox for who boots them
debs=''
for flavour; do
	arch=$(architecture "$flavour")
	v=$(version "$flavour")
	# From 7.x on the image is split.
	if has "linux-binary-$v:$arch"; then
		debs="$debs linux-binary-$v:$arch linux-modules-$v:$arch linux-base-$v:$arch"
	else
		debs="$debs linux-image-$v:$arch"
	fi
	debs="$debs linux-headers-$v:$arch"
	[ "$arch" = amd64 ] || debs="$debs busybox-static:$arch"
done
# shellcheck disable=SC2086 # words
apt-get download -qq $debs

# What the headers need: common ones (RT has its own until 7.x), which a layer below may have, and the
# kernels' scripts, which come as programs, and so must be those of the build machine.
commons='' scripts=''
for deb in linux-headers-*.deb; do
	depends=$(dpkg-deb -f "$deb" Depends)
	common=$(echo "$depends" | grep -o 'linux-headers-[^ ,:]*-common[^ ,:]*')
	[ -d "/usr/src/$common" ] || commons="$commons $common"
	scripts="$scripts $(echo "$depends" | grep -o 'linux-kbuild-[^ ,:]*')"
done
# shellcheck disable=SC2046,SC2086 # words
{
	[ -z "$commons" ] || apt-get download -qq $(printf '%s\n' $commons | sort -u)
	apt-get install -qqy --no-install-recommends $(printf '%s\n' $scripts | sort -u)
}

for deb in *.deb; do
	case $deb in
	busybox-static_*)
		arch=${deb##*_}
		dpkg -x "$deb" bb
		# In /bin up to Debian 12
		cp "$(find bb -path '*/bin/busybox')" "/usr/bin/busybox-${arch%.deb}"
		rm -rf bb ;;
	*)
		# tar, because dpkg -x would replace the symbolic link /lib.
		# Of the modules msr, KVM's and what kvm_amd needs (ccp) are loaded on our machines.
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C / --keep-directory-symlink --no-overwrite-dir \
			--exclude='*/kernel/sound' --exclude='*/kernel/net' --exclude='*/kernel/fs' \
			--exclude='*/kernel/crypto' --exclude='*/kernel/lib' \
			--exclude='*/kernel/drivers/[!c]*' --exclude='*/kernel/drivers/c[!r]*' \
			--exclude='*/kernel/drivers/crypto/[!c]*' \
			--exclude='*/kernel/drivers/crypto/c[!c]*' \
			--exclude='./usr/share/doc' --exclude='*/modules/*/dtb' \
			--exclude='./usr/lib/linux-image-*' ;;
	esac
	rm "$deb"
done

# Short names for the rest of the scripts.
for m in /usr/lib/modules/*; do
	v=${m##*/}
	case $v in
	*-rt-amd64) flavour=rt-amd64 ;;
	*-686-pae) flavour=686-pae ;;
	*) flavour=${v##*-} ;;
	esac
	[ ! -e "/usr/src/headers-$flavour" ] || continue
	depmod "$v"
	ln -s "linux-headers-$v" "/usr/src/headers-$flavour"
	for image in "$m"/vmlinuz /boot/vmlinu[xz]-"$v"; do
		[ ! -e "$image" ] || ln -sr "$image" "/boot/kernel-$flavour"
	done
done

cd /
rm -rf "$dir"
