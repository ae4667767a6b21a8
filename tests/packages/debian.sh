#!/bin/sh
# usage: debian.sh make|install|upgrades|secure-boot|containers|slurm
#
# make: builds Debian's packages of HEAD twice, in two places, which must give the same bytes, and lintian
# must find neither errors nor warnings. install: in a new Debian machine with systemd they are installed, and
# a user counts. The others go on from there: upgrades goes through two kernel upgrades and a boot, and removes
# them; secure-boot enrols the key that dkms signs with; containers counts in one; slurm counts a job's tasks.
# What they need of the first two they make, once for each commit.
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
	[ "$what" != make ] && [ "$(cat build/deb/commit 2>/dev/null)" = "$(packaged)" ] && return
	"$here/../machines/inroot" -r full -w "/src/tests/packages/${0##*/}" --inside
	packaged >build/deb/commit
}

# As for boot.sh, from what machine.sh has fetched
firmware() {
	export FIRMWARE="$work/firmware"
	for package in ovmf shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed mtools; do
		dpkg-deb -x "$machine/var/cache/apt/archives/$package"_*.deb "$FIRMWARE"
	done
}

# One job after another, on one disk
jobs() { # "job kernel"...
	cp "$here"/jobs/* packaging/hpc/slurm.sh packaging/hpc/modulefile "$work/job"
	cp build/stage/icelake/usr/libexec/perfctr/known "$work/job"
	for deb in build/deb/*.deb; do
		case $deb in *-dbgsym_*) ;; *) cp "$deb" "$work/job" ;; esac
	done
	for step; do
		cp "$here/jobs/${step% *}" "$work/job/run"
		rm -f "$work/job/keys"
		[ ! -e "$here/jobs/${step% *}.keys" ] || cp "$here/jobs/${step% *}.keys" "$work/job/keys"
		kernel=${step#* }
		[ "$kernel" != newer ] || kernel=$(head -n 1 "$machine/etc/perfctr-kernels")
		"$here/boot.sh" "$work/disk" "$kernel" "$work/job"
	done
}

new_work() { # name
	work=build/packages/$1
	rm -rf "$work"
	mkdir -p "$work/job"
}

install_packages() {
	[ "$what" != install ] &&
		[ "$(cat build/packages/install/done 2>/dev/null)" = "$machine $(packaged)" ] && return
	new_work install
	truncate -s 8G "$work/disk"
	mke2fs -q -t ext4 -L perfctr -d "$machine" "$work/disk"
	jobs 'install 6.12'
	echo "$machine $(packaged)" >"$work/done"
}

cd "$top"
what=${1-}
case $what in
make | install)
	set -- ;;
upgrades)
	set -- 'upgrade 6.12' 'newer newer' ;;
secure-boot)
	set -- 'signed 6.12' 'enrolled 6.12' ;;
containers | slurm)
	set -- "$what 6.12" ;;
*)
	echo "usage: debian.sh make|install|upgrades|secure-boot|containers|slurm" >&2
	exit 2 ;;
esac
mkdir -p build/packages
exec 9>build/packages/lock
flock 9
make_packages
[ "$what" != make ] || exit 0
machine=$("$here/machine.sh")
tests/machines/stage.sh icelake
install_packages
[ "$what" != install ] || exit 0
new_work "$what"
cp --sparse=always build/packages/install/disk "$work/disk"
exec 9>&-
case $what in
secure-boot)
	firmware ;;
containers | slurm)
	# The instruction clock makes counts exact.
	export ICOUNT=y ;;
esac
jobs "$@"
rm -rf "$work"
