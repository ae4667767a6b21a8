#!/bin/sh
# usage: debian.sh make|upgrades|containers|slurm
#
# make: builds Debian's packages of HEAD twice, in two places, which must give the same bytes, and lintian
# must find neither errors nor warnings. The others install them in a new Debian machine with systemd:
# upgrades goes through two kernel upgrades and a boot, and removes them; containers counts in one; slurm
# counts a job's tasks.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

# Inside a throw-away build root
if [ "${1-}" = --inside ]; then
	mkdir /tmp/needs
	cp -R /src/packaging/debian /tmp/needs/debian
	{ apt-get update && apt-get install -y --no-install-recommends lintian git &&
		apt-get build-dep -y --no-install-recommends /tmp/needs; } >/tmp/log 2>&1 ||
		{ tail -n 20 /tmp/log; exit 1; }
	for place in one another; do
		git clone -q /src "/tmp/$place"
		make -C "/tmp/$place" deb >/tmp/log 2>&1 || { tail -n 40 /tmp/log; echo "not ok deb.made"; exit 1; }
		(cd "/tmp/$place/build/deb" && sha256sum -- *.deb *.dsc *.tar.xz) >"/tmp/$place.sums"
	done
	echo "ok deb.made"
	diff /tmp/one.sums /tmp/another.sums || { echo "not ok deb.same_bytes"; exit 1; }
	echo "ok deb.same_bytes"
	lintian --fail-on error,warning /tmp/one/build/deb/*.changes || { echo "not ok deb.lintian"; exit 1; }
	echo "ok deb.lintian"
	rm -rf /src/build/deb
	cp -R /tmp/one/build/deb /src/build/deb
	echo "3 passed, 0 failed"
	exit
fi

# The last commit of what is packaged
packaged() { git log -n 1 --format=%H -- . ':!tests'; }

make_packages() {
	"$here/../machines/inroot" -w "/src/tests/packages/${0##*/}" --inside
	packaged >build/deb/commit
}

# On a new disk, one job after another
jobs() { # "job kernel"...
	machine=$("$here/machine.sh")
	work=build/packages/$what
	rm -rf "$work"
	mkdir -p "$work/job"
	cp "$here"/jobs/* packaging/hpc/slurm.sh packaging/hpc/modulefile "$work/job"
	cp build/stage/icelake/usr/libexec/perfctr/known "$work/job"
	for deb in build/deb/*.deb; do
		case $deb in *-dbgsym_*) ;; *) cp "$deb" "$work/job" ;; esac
	done
	truncate -s 8G "$work/disk"
	mke2fs -q -t ext4 -L perfctr -d "$machine" "$work/disk"
	for step; do
		cp "$here/jobs/${step% *}" "$work/job/run"
		kernel=${step#* }
		[ "$kernel" != newer ] || kernel=$(head -n 1 "$machine/etc/perfctr-kernels")
		"$here/boot.sh" "$work/disk" "$kernel" "$work/job"
	done
}

cd "$top"
what=${1-}
case $what in
make)
	make_packages
	exit ;;
upgrades)
	set -- 'install 6.12' 'newer newer' ;;
containers | slurm)
	set -- "$what 6.12"
	# The instruction clock makes counts exact.
	export ICOUNT=y ;;
*)
	echo "usage: debian.sh make|upgrades|containers|slurm" >&2
	exit 2 ;;
esac
[ "$(cat build/deb/commit 2>/dev/null)" = "$(packaged)" ] || make_packages
tests/machines/stage.sh icelake
jobs "$@"
rm -rf "build/packages/$what"
