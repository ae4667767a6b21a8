#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: lacks.sh
#
# Says which packages `make deb` lacks here, as the one command that installs them, and ends with 1 if there are any.
set -eu

control=$(dirname "$0")/debian/control
if command -v dpkg-buildpackage >/dev/null; then
	lacks=$(dpkg-checkbuilddeps "$control" 2>&1 | sed -n 's/.*[Uu]nmet build dependencies: //p')
else
	# What else is needed only dpkg-dev can tell, so all of it
	lacks="dpkg-dev $(sed -n '/^Build-Depends:/,/^[^ B]/{s/^Build-Depends://; /^[^ ]/d; s/,//g; s/\[[^]]*\]//g; p}' "$control")"
fi
# Without versions, and of alternatives the first
lacks=$(echo "$lacks" | sed 's/([^)]*)//g; s/ *| *[^ ]*//g' | tr -s ' \n' ' ')
[ "${lacks# }" ] || exit 0
echo "perfctr: packages are missing; this installs them:" >&2
echo "    sudo apt-get install ${lacks# }" | sed "s, $,," >&2
exit 1
