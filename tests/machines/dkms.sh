#!/bin/sh
# usage: dkms.sh
#
# Adds, builds and installs the module with dkms as an administrator would, for
# Debian's amd64 kernel in a throw-away copy of the build root, and loads what
# came out in the emulated x86_64 machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

# shellcheck disable=SC2016 # for the inner shell
"$here/inroot" -w sh -euc '
	kernel=$(readlink /usr/src/headers-amd64)
	kernel=${kernel#linux-headers-}
	# `dkms add .` in a clone is the same as make install-dkms.
	mkdir /tmp/clone
	cp -R dkms.conf module include /tmp/clone
	(cd /tmp/clone && dkms add .)
	mv /usr/src/perfctr-* /tmp/added
	rm -rf /var/lib/dkms/perfctr
	make -s install-dkms
	diff -r /tmp/added /usr/src/perfctr-*
	rm -rf /tmp/added
	version=$(cd /usr/src && echo perfctr-*)
	version=${version#perfctr-}
	for step in add build install; do
		[ $step = add ] || set -- -k "$kernel"
		dkms $step "perfctr/$version" "$@" ||
			{ cat /var/lib/dkms/perfctr/*/build/make.log; exit 1; }
	done
	dkms status
	dkms status "perfctr/$version" | grep -q ": installed$"
	# modprobe must find it.
	ko=$(modinfo -k "$kernel" -F filename perfctr)
	rm -rf build/dkms
	mkdir -p build/dkms/lib
	case $ko in
	*.xz) xz -dc "$ko" > build/dkms/lib/perfctr.ko ;;
	*) cp "$ko" build/dkms/lib/perfctr.ko ;;
	esac
	make -s uninstall-dkms
	! dkms status "perfctr/$version" | grep . || exit 1
	[ ! -e "/usr/src/perfctr-$version" ]
	'
"$here/boot.sh" x86_64-6.12 --stage build/dkms --timeout 60 \
	sh -c 'insmod /lib/perfctr.ko && ls -l /dev/perfctr && rmmod perfctr'
