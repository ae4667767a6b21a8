#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: dist.sh [TAG]
#
# Makes build/dist/perfctr-VERSION.tar.xz of the tag vVERSION, with its checksum, and tries it: it is made
# twice, unpacked, built, installed and used. Without TAG it is of HEAD. If that does not have the tag of its
# version, the name says which commit it is: perfctr-VERSION.gCOMMIT.tar.xz.
set -eu

cd "$(dirname "$0")/.."
die() { echo "perfctr: make dist: $*" >&2; exit 1; }

commit=$(git rev-parse -q --verify "${1:-HEAD}^{commit}") || die "there is no ${1:-git checkout here}"
version=$(git show "$commit:dkms.conf" | sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p')
name=perfctr-$version
if [ "$(git rev-parse -q --verify "v$version^{commit}")" = "$commit" ]; then
	git show "$commit:CHANGELOG.md" | grep -q "^## $version, [0-9-]*$" ||
		die "CHANGELOG.md has no date of $version"
else
	name=$name.g$(git rev-parse --short=12 "$commit")
fi

# Times in it are the commit's, owners root, modes nobody's umask.
archive() { # file
	git -c tar.umask=0022 archive --format=tar --prefix="$name/" "$commit" >"$1"
	xz -f -T1 "$1"
}
dist=build/dist
rm -rf $dist/try
mkdir -p $dist/try
archive "$dist/$name.tar"
archive "$dist/try/$name.tar"
cmp "$dist/$name.tar.xz" "$dist/try/$name.tar.xz" || die "another time it has other bytes"
(cd $dist && sha256sum "$name.tar.xz" >"$name.tar.xz.sha256")

try=$PWD/$dist/try
tar -C "$try" -xf "$dist/$name.tar.xz"
cd "$try"
rm -f ./*.xz
make -s -C "$name" DESTDIR="$try/installed" PREFIX=/usr all install install-dkms
[ "$(LD_LIBRARY_PATH=installed/usr/lib installed/usr/bin/perfex --version)" = "perfex $version" ] ||
	die "perfex tells another version than $version"
[ -e "installed/usr/src/perfctr-$version/module/Kbuild" ] || die "dkms would not find the module"
${CC:-cc} -Iinstalled/usr/include -o first "$name/examples/first.c" installed/usr/lib/libperfctr.a
[ ! -e "$name/.git" ] || die "the archive has a .git"
cd ..
rm -rf try
cat "$name.tar.xz.sha256"
