#!/bin/sh
# usage: boot.sh MACHINE [OPTION...] JOB [ARG...]
#
# Boots an emulated machine, runs JOB (a program there, with ARGs) as root, and
# ends with JOB's status. The job `shell` is an interactive shell.
# README.md tells of the machines and of what a job can do.
#
#  --smp N         processors (1)
#  --mem MB        memory (512; 1024 for a kernel that checks itself)
#  --icount        one nanosecond of guest time is one instruction, and time in
#                  which the guest is idle is skipped
#  --patched       a RISC-V machine runs on the QEMU of qemu/build.sh; always so
#                  with --icount on more than one processor
#  --timeout S     end the machine after S seconds (300; none with a shell)
#  --stage DIR     what is copied over the guest's root (build/stage/MACHINE)
#  --append WORDS  kernel parameters
#  --shell         after the job, if it succeeded, a shell in the same machine
#
# status 98: the kernel complained; 99: it did not get to the job's end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
die() { echo "boot: $*" >&2; exit 2; }

machine=${1-}
# Machines of another suite have their kernel from there.
case $machine in
*-testing) other='-a testing' kernels=/other/boot ;;
*) other='' kernels=/boot ;;
esac
[ $# -gt 0 ] || die "usage: boot.sh MACHINE [OPTION...] JOB [ARG...]"
shift

smp=1 mem=512
case $machine in
*-debug | *-kcsan) mem=1024 ;;
esac
icount='' timeout=300 stage=/src/build/stage/$machine append='' shell='' patched=''
options() { # sets those, and job_words
	while [ $# -gt 0 ]; do
		case $1 in
		--icount) icount='-icount shift=0,sleep=off' ;;
		--shell) shell=y ;;
		--patched) patched=y ;;
		--smp | --mem | --timeout | --stage | --append)
			[ $# -gt 1 ] || die "$1 needs a value"
			eval "${1#--}=\$2"
			shift ;;
		-*) die "unknown option $1" ;;
		*) break ;;
		esac
		shift
	done
	job_words=$#
	[ $# -gt 0 ] || die "no job"
}
options "$@"

if [ -z "${BOOT_INSIDE-}" ]; then
	export BOOT_INSIDE=y
	# The guest's terminal is as big as ours.
	SIZE=$(stty size 2>/dev/null) || SIZE=
	# Stock QEMU counts the instructions of all harts together; README.md
	# has the figures.
	[ -z "$icount" ] || [ "$smp" = 1 ] || patched=y
	QEMU_RISCV='qemu-system-riscv64'
	if [ "$patched" ] && [ "${machine#riscv64}" != "$machine" ]; then
		QEMU_RISCV=/src/$("$here/qemu/build.sh")
	fi
	KERNEL=
	case $machine in
	*-debug | *-kcsan) KERNEL=/src/$("$here/debug/build.sh" "$machine")/image ;;
	esac
	export SIZE QEMU_RISCV KERNEL
	# shellcheck disable=SC2086 # none or two words
	exec "$here/inroot" $other -e BOOT_INSIDE -e SIZE -e QEMU_RISCV -e KERNEL \
		"/src/tests/machines/${0##*/}" "$machine" "$@"
fi
shift $(($# - job_words))
[ "$stage" = "/src/build/stage/$machine" ] || [ -d "$stage" ] ||
	die "no directory $stage"

virt="$QEMU_RISCV -M virt"
case $machine in
riscv64-6.12 | riscv64-testing | riscv64-debug)
	qemu="$virt -cpu rv64,sscofpmf=true" ;;
riscv64-smcntrpmf)
	qemu="$virt -cpu rv64,sscofpmf=true,smcntrpmf=true" ;;
riscv64-nopmu)
	qemu="$virt -cpu rv64,pmu-mask=0" ;;
x86_64-6.12 | x86_64-testing | x86_64-rt | x86_64-debug | x86_64-kcsan)
	qemu='qemu-system-x86_64 -M q35 -cpu max -nic none -vga none' ;;
*)
	die "no machine '$machine'" ;;
esac
case $machine in
riscv64*) arch=riscv64 kernel=$kernels/kernel-riscv64 ;;
x86_64-rt) arch=x86_64 kernel=$kernels/kernel-rt-amd64 ;;
x86_64*) arch=x86_64 kernel=$kernels/kernel-amd64 ;;
esac
kernel=${KERNEL:-$kernel}

serial=stdio
if [ "$1" = shell ]; then
	shell=y
	set -- true
fi
if [ "$shell" ]; then
	[ -t 0 ] || die "a shell needs a terminal"
	serial=mon:stdio timeout=0
	# Without sleep, an idle machine's time would race before its user's eyes.
	icount=${icount%,sleep=off}
	# SIZE is "rows columns"
	shell="export TERM=$TERM${SIZE:+; stty rows ${SIZE% *} cols ${SIZE#* }}"
else
	exec </dev/null
fi

# /tmp is ours alone: many machines may run at once.
GUEST_SHELL=$shell "$here/initramfs.sh" "$arch" "$machine" "$stage" \
	/tmp/initramfs "$@"

# An Oops is a panic, so that nothing hangs on after it; and the kernel's log
# must still have its first complaint when the job ends.
mkdir -p /src/build/log
# shellcheck disable=SC2086 # words
exec "$here/console.py" --log "/src/build/log/$machine.console" \
	--out "/src/build/out/$machine" --timeout "$timeout" \
	$qemu -smp "$smp" -m "$mem" $icount -no-reboot -display none \
	-monitor none -serial $serial -kernel "$kernel" -initrd /tmp/initramfs \
	-append "console=ttyS0 quiet panic=1 oops=panic log_buf_len=2M $append"
