#!/bin/sh
# Runs inside a build root that is being made: adds checkpatch, which only Linux's whole source has, as
# /opt/checkpatch.pl.
set -eu

dir=$(mktemp -d)
cd "$dir"
# linux-headers-6.12.107+deb13-amd64
v=$(readlink /usr/src/headers-amd64)
v=${v#linux-headers-}
apt-get download -qq "linux-source-$(echo "$v" | cut -d. -f1,2)"
dpkg-deb --fsys-tarfile linux-source-*.deb |
	tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
	xz -d -T0 |
	tar -x -C /opt --strip-components=2 --wildcards \
	'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
	'*/scripts/const_structs.checkpatch'
cd /
rm -rf "$dir"
