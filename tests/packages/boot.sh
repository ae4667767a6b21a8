#!/bin/sh
# usage: boot.sh DISK KERNEL JOB
#
# Boots a Debian machine of machine.sh from the disk image DISK, with that of its kernels whose release
# begins with KERNEL, and runs JOB/run there, with the directory JOB at /job. Ends with its status, or as
# tests/machines/boot.sh does. All paths are relative to the checkout. The processor is an Intel one with
# counters, whose two CPUs execute at the same time, or go by the instruction clock: ICOUNT=y.
# FIRMWARE is a directory with what Debian's packages of OVMF, shim and GRUB hold: the machine is a UEFI one
# with Secure Boot, and its variables, DISK's neighbour, stay. JOB/keys is for console.py, if there is one.
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
	KEYS=
	[ ! -e "$job/keys" ] || KEYS="--keys $job/keys"
	QEMU=/src/$("$here/../machines/qemu/build.sh" x86_64)/qemu-system-x86_64
	export QEMU KEYS
	exec "$here/../machines/inroot" -r full -e QEMU -e ICOUNT -e FIRMWARE -e KEYS "/src/tests/packages/${0##*/}" "$disk" "$kernel"
fi
cd /src
disk=$1 kernel=$2 work=${1%/*}
machine=icelake
# shellcheck source=tests/machines/machine.sh
. tests/machines/machine.sh
clock='-accel tcg,thread=multi'
[ -z "${ICOUNT-}" ] || clock='-icount shift=0,sleep=off'
words='root=LABEL=perfctr rw console=ttyS0 quiet panic=1 oops=panic mitigations=off'
if [ "${FIRMWARE-}" ]; then
	# shim starts GRUB, or its manager of keys, and GRUB the kernel.
	printf '%s\n' "linux /vmlinuz $words" 'initrd /initrd.img' boot >"$work/grub.cfg"
	export PATH="$PWD/$FIRMWARE/usr/bin:$PATH" MTOOLSRC=/dev/null
	esp=$work/esp
	rm -f "$esp"
	truncate -s 128M "$esp"
	mformat -i "$esp" -F ::
	mmd -i "$esp" ::EFI ::EFI/BOOT ::EFI/debian
	mcopy -i "$esp" "$FIRMWARE/usr/lib/shim/shimx64.efi.signed" ::EFI/BOOT/BOOTX64.EFI
	mcopy -i "$esp" "$FIRMWARE/usr/lib/shim/mmx64.efi.signed" ::EFI/BOOT/mmx64.efi
	mcopy -i "$esp" "$FIRMWARE/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::EFI/BOOT/grubx64.efi
	mcopy -i "$esp" "$work/grub.cfg" ::EFI/debian
	mcopy -i "$esp" "$work/vmlinuz" "$work/initrd.img" ::
	ovmf=$FIRMWARE/usr/share/OVMF
	[ -e "$work/variables" ] || cp "$ovmf/OVMF_VARS_4M.ms.fd" "$work/variables"
	set -- -machine smm=on -global driver=cfi.pflash01,property=secure,value=on \
		-drive "if=pflash,format=raw,readonly=on,file=$ovmf/OVMF_CODE_4M.ms.fd" \
		-drive "if=pflash,format=raw,file=$work/variables" \
		-drive "if=none,format=raw,file=$esp,id=esp" \
		-device ide-hd,bus=ide.3,drive=esp,bootindex=0
else
	set -- -no-reboot -kernel "$work/vmlinuz" -initrd "$work/initrd.img" -append "$words"
fi
mkdir -p build/log
# shellcheck disable=SC2086 # words
exec tests/machines/console.py ${KEYS-} --log "build/log/packages-${work##*/}-$kernel.console" \
	--out build/out/packages --timeout 3000 \
	$QEMU -M q35 -cpu $cpu $clock -smp 2 -m 2048 -nic none -vga none -display none -serial stdio \
	-drive "file=$disk,format=raw,if=ide,index=0" -drive "file=$work/job.tar,format=raw,if=none,id=job" \
	-device ide-hd,drive=job,serial=job "$@"
