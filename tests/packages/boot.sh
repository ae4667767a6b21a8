#!/bin/sh
# usage: boot.sh DISK KERNEL JOB
#
# Boots a Debian machine of machine.sh from the disk image DISK, with that of its kernels whose release
# begins with KERNEL, and runs JOB/run there, with the directory JOB at /job. Ends with its status, or as
# tests/machines/boot.sh does. All paths are relative to the checkout. The processor is an Intel one with
# counters, whose two CPUs execute at the same time, or go by the instruction clock: ICOUNT=y.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${INROOT-}" ]; then
	disk=$1 release=$2 job=$3
	kernel=$(debugfs -R 'ls -p /boot' "$disk" 2>/dev/null |
		sed -n "s,.*/vmlinuz-\(${release}[^/]*\)/.*,\1,p" | sort -V | tail -n 1)
	[ "$kernel" ] || { echo "boot.sh: $disk has no kernel $release" >&2; exit 2; }
	for file in vmlinuz initrd.img; do
		debugfs -R "dump /boot/$file-$kernel ${disk%/*}/$file" "$disk" 2>/dev/null
	done
	tar -cf "${disk%/*}/job.tar" -C "$job" .
	QEMU=/src/$("$here/../machines/qemu/build.sh")/qemu-system-x86_64
	export QEMU
	exec "$here/../machines/inroot" -e QEMU -e ICOUNT "/src/tests/packages/${0##*/}" "$disk" "$kernel"
fi
cd /src
disk=$1 kernel=$2 work=${1%/*}
machine=icelake
# shellcheck source=tests/machines/machine.sh
. tests/machines/machine.sh
mkdir -p build/log
clock='-accel tcg,thread=multi'
[ -z "${ICOUNT-}" ] || clock='-icount shift=0,sleep=off'
# shellcheck disable=SC2086 # words
exec tests/machines/console.py --log "build/log/packages-${work##*/}-$kernel.console" \
	--out build/out/packages --timeout 3000 \
	$QEMU -M q35 -cpu $cpu $clock -smp 2 -m 2048 -nic none -vga none -display none \
	-no-reboot -serial stdio -kernel "$work/vmlinuz" -initrd "$work/initrd.img" \
	-drive "file=$disk,format=raw,if=ide,index=0" -drive "file=$work/job.tar,format=raw,if=none,id=job" \
	-device ide-hd,drive=job,serial=job \
	-append "root=LABEL=perfctr rw console=ttyS0 quiet panic=1 oops=panic mitigations=off"
