#!/bin/sh
# usage: dkms.sh
#
# Adds, builds and installs the module with the dkms of Debian 12, 13 and testing, as an administrator
# and as a kernel's installation would, in throw-away copies of the build roots: also for kernels that
# it is not for, whose installation must succeed. What came out for Debian 13's amd64 kernel is loaded in
# the emulated x86_64 machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
if [ -z "${INROOT-}" ]; then
	cd "$top"
	rm -rf build/dkms
	mkdir -p build/dkms
	for suite in bookworm full testing; do
		"$here/inroot" -r $suite -w "/src/tests/machines/${0##*/}"
	done
	"$here/boot.sh" x86_64-6.12 --stage build/dkms --timeout 60 \
		sh -c 'insmod /lib/perfctr.ko && ls -l /dev/perfctr && rmmod perfctr'
	total=$(cat build/dkms/passed.* | awk '{ n += $1 } END { print n + 1 }')
	echo "ok dkms.loaded"
	echo "$total passed, 0 failed"
	exit
fi

passed=0
fail() {
	echo "not ok dkms.$INROOT.$1"
	cat /tmp/said /var/lib/dkms/perfctr/*/build/make.log 2>/dev/null || :
	echo "0 passed, 1 failed"
	exit 1
}
ok() {
	passed=$((passed + 1))
	echo "ok dkms.$INROOT.$1"
}
# As when a kernel is installed
hook() { /etc/kernel/postinst.d/dkms "$1" >/tmp/said 2>&1; }
status() { dkms status "perfctr/$version" 2>/dev/null; }

for dir in /lib/modules/*-amd64; do
	case $dir in *-rt-*) ;; *) kernel=${dir##*/} ;; esac
done
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
dkms --version

if [ "$INROOT" = full ]; then
	# `dkms add .` in a clone is the same as make install-dkms.
	mkdir /tmp/clone
	cp -R dkms.conf module include /tmp/clone
	(cd /tmp/clone && dkms add .)
	mv "/usr/src/perfctr-$version" /tmp/added
	rm -rf /var/lib/dkms/perfctr
	make -s install-dkms
	diff -r /tmp/added "/usr/src/perfctr-$version" >/tmp/said || fail added
	ok added
fi

make -s install-dkms
dkms add "perfctr/$version"
hook "$kernel" || fail hook
status | grep -q ": installed" || fail installed
# modprobe must find it.
ko=$(modinfo -k "$kernel" -F filename perfctr)
[ -f "$ko" ] || fail found
ok installed
if [ "$INROOT" = full ]; then
	mkdir -p build/dkms/lib
	case $ko in
	*.xz) xz -dc "$ko" >build/dkms/lib/perfctr.ko ;;
	*) cp "$ko" build/dkms/lib/perfctr.ko ;;
	esac
fi

# As Debian's packages of modules ask it, before they build one
[ "$(bash -c 'AUTOINSTALL=; . "$0"; echo $AUTOINSTALL' "/usr/src/perfctr-$version/dkms.conf" 2>/tmp/said)" = yes ] ||
	fail packaged
ok packaged

# After a git pull
mkdir /tmp/pulled
cp -R Makefile common.mk dkms.conf module include /tmp/pulled
echo 'MODULE_INFO(pulled, "yes");' >>/tmp/pulled/module/main.c
make -s -C /tmp/pulled install-dkms >/tmp/said
dkms install "perfctr/$version" -k "$kernel" >/tmp/said 2>&1 || fail pulled
[ "$(modinfo -k "$kernel" -F pulled perfctr)" = yes ] || fail pulled
ok pulled

make -s uninstall-dkms >/tmp/said
! status | grep . || fail uninstalled
[ ! -e "/usr/src/perfctr-$version" ] || fail uninstalled
! modinfo -k "$kernel" perfctr >/tmp/said 2>&1 || fail uninstalled
ok uninstalled

make -s install-dkms
dkms add "perfctr/$version" >/tmp/said
left_alone() { # name kernel
	hook "$2" || fail "$1"
	! status | grep -v ": added" || fail "$1"
	# dkms says it in several lines.
	tr '\n' ' ' </tmp/said | grep -q -e "perfctr.*BUILD_EXCLUSIVE" -e "perfctr: not for kernel $2" || fail "$1"
	ok "$1"
}
mkdir /lib/modules/99.1.2-amd64
ln -s "/lib/modules/$kernel/build" /lib/modules/99.1.2-amd64/build
left_alone newer 99.1.2-amd64
mkdir "/lib/modules/$kernel-none"
cp -r "$(readlink -f "/lib/modules/$kernel/build")" "/lib/modules/$kernel-none/build"
sed -i '/^CONFIG_TRACEPOINTS=/d' "/lib/modules/$kernel-none/build/.config" \
	"/lib/modules/$kernel-none/build/include/config/auto.conf"
left_alone without_tracepoints "$kernel-none"
mkdir /tmp/away
find /usr/bin \( -name 'gcc*' -o -name 'clang*' \) -exec mv -t /tmp/away {} +
left_alone without_compiler "$kernel"

echo "$passed" >"build/dkms/passed.$INROOT"
