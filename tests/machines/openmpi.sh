#!/bin/sh
# usage: openmpi.sh
#
# Prints where Debian's Open MPI is, relative to the checkout: as much of it as runs programs on one
# x86_64 machine, laid out as in a root, and `ranks`, a program of MPI (mpi/ranks.c). It is not in the build
# root, as it needs 336 MB there: it is installed once into a root that is thrown away (80 MB to
# fetch, a minute and a half), and these 26 MB are kept in the cache.
set -eu

case ${1-} in
--*) ;;
*)
	here=$(cd "$(dirname "$0")" && pwd)
	top=$(cd "$here/../.." && pwd)
	# shellcheck source=tests/machines/cache.sh
	. "$here/cache.sh"
	root=$("$here/root.sh" full)
	key=$({ echo "$root" && sed -n '/^# --- Inside/,$p' "$0" && cat "$here/mpi/ranks.c"; } |
		sha256sum | cut -c1-16)
	kept=$cache/openmpi-$key.tar used=build/openmpi/$key

	kept_find openmpi

	echo "perfctr: fetching Open MPI: once, about a minute" >&2
	mkdir -p "$top/build/openmpi"
	(cd "$top" && tests/machines/inroot -r full -w "/src/tests/machines/${0##*/}" --install \
		"/src/build/openmpi/$key.tar") >&2 9>&- || {
		echo "perfctr: Open MPI could not be had" >&2
		exit 1
	}
	kept_put "$top/build/openmpi/$key.tar" 'openmpi-*.tar'
	exit ;;
esac

# --- Inside of a build root that can be written to

out=$2 dir=/tmp/openmpi libs=/usr/lib/x86_64-linux-gnu
log=/tmp/openmpi.log
{ apt-get -o Acquire::Retries=3 update &&
	DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y \
		--no-install-recommends openmpi-bin libopenmpi-dev; } >$log 2>&1 ||
	{ tail -n 20 $log; exit 1; }
mkdir -p $dir/usr/bin $dir$libs $dir/usr/share $dir/etc
mpicc -O2 -Wall -Wextra -Werror -o $dir/usr/bin/ranks /src/tests/machines/mpi/ranks.c
for b in mpirun.openmpi prte prted; do
	cp /usr/bin/$b $dir/usr/bin
done
ln -s prte $dir/usr/bin/prterun
ln -s mpirun.openmpi $dir/usr/bin/mpirun
cp -R /usr/share/openmpi /usr/share/prte $dir/usr/share
for d in openmpi pmix2 prrte; do
	[ ! -d $libs/$d ] || cp -R $libs/$d $dir$libs
done
cp -R /etc/openmpi* $dir/etc 2>/dev/null || :
# Those of headers are not for running.
rm -rf $dir$libs/openmpi/include $dir$libs/openmpi/lib/*.a
# What these are linked with, but for the C library, which the machine has
find $dir/usr/bin $dir$libs -type f -exec ldd {} \; 2>/dev/null | awk '$3 ~ /^\// { print $3 }' | sort -u |
	grep -vE '/(libc|libm|libgcc_s)[.]so' | while read -r lib; do
	cp -L "$lib" "$dir$libs"
done
tar -c -f "$out" -C $dir .
