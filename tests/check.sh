#!/bin/sh
# usage: check.sh [--go-on] SET|PART[:TEST]...
#
# Runs the tests: a SET of the parts that tests/parts lists (check, all, debug), or some parts, or
# some tests of a part. check.py tells what it prints.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || {
	echo "perfctr: installing python3 with apt-get" >&2
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	{ $sudo apt-get -qq update && $sudo apt-get -qqy install --no-install-recommends python3; } >&2
}
exec python3 "$here/check.py" "$@"
