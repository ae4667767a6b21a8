#!/bin/sh
# usage: linux-source.sh VERSION
#
# Downloads Debian's source of Linux into the current directory: linux-source-*.deb of VERSION,
# which is that of the kernels in the build root. Runs inside of a build root that may be
# written to.
set -eu

version=$1
export APT_CONFIG=/tmp/apt.conf DEBIAN_FRONTEND=noninteractive
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
log=$(mktemp)
# A moving suite's index can be past its date.
apt-get -q -o Acquire::Check-Valid-Until=false update >"$log" 2>&1 ||
	{ cat "$log"; exit 1; }
# 6.12.107-1 is in linux-source-6.12. A mirror keeps the newest only, and a build
# root can be older.
package=linux-source-$(echo "$version" | cut -d. -f1,2)
apt-get -q download "$package=$version" >"$log" 2>&1 || {
	echo "perfctr: $package $version is gone, taking the newest"
	apt-get -q download "$package" >"$log" 2>&1 || { cat "$log"; exit 1; }
}
