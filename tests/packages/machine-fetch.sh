#!/bin/sh
# Runs in the machine of machine.sh as it is made: fetches what apt-get will be asked for there, and writes
# to /etc/perfctr-kernels which kernels will come: the newest one of Debian's backports that dkms.conf
# lets pass, and the newest one of all.
set -eu

fits=$1 # as BUILD_EXCLUSIVE_KERNEL of dkms.conf
shift
apt-get update
kernels=$(apt-cache pkgnames linux-image- |
	sed -n 's/^linux-image-\([0-9.]*+deb13-amd64\)$/\1/p' | sort -V)
{
	echo "$kernels" | grep -E "$fits" | tail -n 1
	echo "$kernels" | tail -n 1
} | uniq >/etc/perfctr-kernels
fetch() { apt-get -o APT::Install-Recommends=true install -y --download-only "$@"; }
fetch "$@"
# The newest kernel upgrades linux-headers-amd64 and linux-image-amd64, which depend on the newest.
while read -r kernel; do
	fetch -t trixie-backports "linux-headers-$kernel" "linux-image-$kernel" linux-headers-amd64 linux-image-amd64
done </etc/perfctr-kernels
