#!/bin/sh
# usage: newest.sh
#
# Builds the module for the newest kernel that Debian has for its stable release, with all warnings and
# with sparse. Where that does not succeed it says so in a line that begins with "note:", for which
# check.sh looks, and ends with status 0: nobody can mend a check that breaks while nothing of ours changes.
set -eu

if [ "${1-}" != --inside ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	exec "$here/inroot" -r full -w "/src/tests/machines/${0##*/}" --inside
fi

log=/tmp/log
not() {
	cat $log
	echo "note: newest: $*; this does not gate"
	echo "0 passed, 0 failed, 1 skipped"
	exit
}
# The indices of other architectures can be of another age.
sed -i 's/^deb /deb [arch=amd64] /; p; s/ trixie main/ trixie-backports main/' /etc/apt/sources.list
export DEBIAN_FRONTEND=noninteractive
echo 'APT::Sandbox::User "root";' >/etc/apt/apt.conf.d/root
apt-get -o Acquire::Check-Valid-Until=false update >$log 2>&1 || not "Debian's backports could not be had"
kernel=$(apt-cache pkgnames linux-headers- |
	sed -n 's/^linux-headers-\([0-9.]*+deb13-amd64\)$/\1/p' | sort -V | tail -n 1)
[ "$kernel" ] || not "Debian's backports have no kernel"
apt-get install -y --no-install-recommends -t trixie-backports "linux-headers-$kernel" >$log 2>&1 ||
	not "the headers of $kernel could not be installed"

mkdir /tmp/perfctr
cp -R module include /tmp/perfctr
make -C "/usr/src/linux-headers-$kernel" M=/tmp/perfctr/module W=1 C=2 \
	CHECK=/src/tests/machines/sparse -j "$(nproc)" modules >$log 2>&1 ||
	not "the module cannot be built for Linux $kernel"
! grep -E '^[^ ]*: (warning|error)|^(WARNING|ERROR): modpost' $log ||
	not "the module's build for Linux $kernel has warnings"
echo "note: newest: Linux $kernel: the module builds without a warning"
echo "1 passed, 0 failed"
