#!/bin/sh
# usage: boot.sh MACHINE [OPTION...] JOB [ARG...]
#
# Boots an emulated machine, runs JOB (a program there, with ARGs) as root, and
# ends with JOB's status. The job `shell` is an interactive shell.
# README.md tells of the machines and of what a job can do.
#
#  --smp N         processors (1; PowerPC has no more)
#  --mem MB        memory (512; 1024 for a kernel that checks itself)
#  --icount        one nanosecond of guest time is one instruction, and time in
#                  which the guest is idle is skipped; x86's and PowerPC's counters
#                  have nothing else to count by, so there it is always on
#  --parallel      processors execute at the same time, each in a thread of QEMU's, by
#                  no instruction clock: counts are not exact, but never go back
#  --patched       the machine runs on the QEMU of qemu/build.sh; always so for x86
#                  with counters, for PowerPC, for RISC-V and ARM with --icount on more
#                  than one processor, and with --parallel
#  --trace EVENTS  what QEMU traces ('x86_*'), to build/log/MACHINE.trace
#  --timeout S     end the machine after S seconds (300; none with a shell)
#  --stage DIR     what is copied over the guest's root (build/stage/MACHINE)
#  --append WORDS  kernel parameters
#  --cpu WORDS     more of QEMU's words for the processor: model=42,pmu-vice-ht=on
#  --shell         after the job, if it succeeded, a shell in the same machine
#
# status 97: QEMU failed, with --parallel (README.md); 98: the kernel complained;
# 99: it did not get to the job's end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
die() { echo "boot: $*" >&2; exit 2; }

machine=${1-}
[ $# -gt 0 ] || die "usage: boot.sh MACHINE [OPTION...] JOB [ARG...]"
shift

# shellcheck source=tests/machines/machine.sh
. "$here/machine.sh"
# Machines of another suite have their kernel from there, and i386 has its C
# library from where its programs are built.
kernel=/boot/kernel-$flavour other=''
case $suite in testing | bookworm) kernel=/other$kernel other="-a $suite" ;; esac
[ "$programs" != bookworm ] || other="-a $programs"
smp=1 mem=512 timeout=300 stage=/src/build/stage/$machine${REACH:+-reach} shell='' trace='' parallel=''
[ -z "$checker" ] || mem=1024
options() { # sets those, and job_words
	while [ $# -gt 0 ]; do
		case $1 in
		--icount) icount=y ;;
		--shell) shell=y ;;
		--patched) patched=y ;;
		--parallel) parallel=y patched=y ;;
		--smp | --mem | --trace | --timeout | --stage | --append | --cpu)
			[ $# -gt 1 ] || die "$1 needs a value"
			case $1 in
			--append) append="$append $2" ;;
			--cpu) cpu=$cpu,$2 ;;
			*) eval "${1#--}=\$2" ;;
			esac
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
# The only machine for these processors that QEMU has takes one.
[ "$arch" != ppc32 ] || [ "$smp$parallel" = 1 ] ||
	die "$machine has one processor: --smp and --parallel make no sense there"
[ -z "$parallel" ] || icount=''

if [ -z "${BOOT_INSIDE-}" ]; then
	export BOOT_INSIDE=y
	# The guest's terminal is as big as ours.
	SIZE=$(stty size 2>/dev/null) || SIZE=
	# Stock QEMU counts the instructions of all CPUs together; README.md
	# has the figures.
	[ -z "$icount" ] || [ "$smp" = 1 ] ||
		case $arch in riscv64 | arm64) patched=y ;; esac
	emulated=$gnu
	[ "$arch" != i386 ] || emulated=x86_64
	[ "$arch" != ppc32 ] || emulated=ppc
	QEMU=qemu-system-$emulated KERNEL='' BIOS=''
	case $patched$emulated in
	yx86_64) QEMU=/src/$("$here/qemu/build.sh" "${QEMU_X86-x86_64}")/$QEMU ;;
	y*) QEMU=/src/$("$here/qemu/build.sh" others)/$QEMU ;;
	esac
	[ -z "$linux" ] || KERNEL=/src/$("$here/linux.sh" "$linux")/image
	[ -z "$opensbi" ] || BIOS=/src/$("$here/opensbi.sh")/fw_dynamic.bin
	export SIZE QEMU KERNEL BIOS
	# shellcheck disable=SC2086 # none or two words
	exec "$here/inroot" -r "$boots" $other -e BOOT_INSIDE -e SIZE -e QEMU -e KERNEL -e BIOS -e ASAN_OPTIONS -e REACH \
		"/src/tests/machines/${0##*/}" "$machine" "$@"
fi
shift $(($# - job_words))
[ "$stage" = "/src/build/stage/$machine${REACH:+-reach}" ] || [ -d "$stage" ] ||
	die "no directory $stage"

console=ttyS0
case $arch in
riscv64) qemu="$QEMU -M virt${parallel:+,aia=aplic-imsic} -cpu $cpu${BIOS:+ -bios $BIOS}" ;;
arm64) qemu="$QEMU -M virt -cpu $cpu -nic none" console=ttyAMA0 ;;
# Without a terminal OpenBIOS takes a minute to refuse the kernel's first words.
ppc32) qemu="$QEMU -M mac99 -cpu $cpu -nic none -vga none -nographic" ;;
x86_64 | i386) qemu="$QEMU -M q35 -cpu $cpu -nic none -vga none" ;;
esac
kernel=${KERNEL:-$kernel}
if [ "$parallel" ]; then
	qemu="$qemu -accel tcg,thread=multi"
elif [ "$icount" ]; then
	qemu="$qemu -icount shift=0"
elif [ "$arch" = x86_64 ] && [ -z "$checker" ]; then
	# When two CPUs execute at once, one may find INT3 where the other has just
	# patched the kernel's text, after it was told that this is done: an Oops,
	# once in some hundred runs.
	qemu="$qemu -accel tcg,thread=single"
fi

serial=stdio
if [ "$1" = shell ]; then
	shell=y
	set -- true
fi
if [ "$shell" ]; then
	[ -t 0 ] || die "a shell needs a terminal"
	serial=mon:stdio timeout=0
	# SIZE is "rows columns"
	shell="export TERM=$TERM${SIZE:+; stty rows ${SIZE% *} cols ${SIZE#* }}"
else
	exec </dev/null
	# Before a user's eyes an idle machine's time would race.
	[ -z "$icount" ] || qemu=$qemu,sleep=off
fi

# One CPU is one without hyperthreads. A package has one core.
if [ "$threads" ] && [ "$smp" -gt 1 ]; then
	smp=$smp,sockets=$((smp / threads)),cores=1,threads=$threads
elif [ "$second" ] && [ "$smp" -gt 1 ]; then
	smp=1,maxcpus=2,cores=2
	qemu="$qemu -device ${cpu%%,*}-x86_64-cpu,socket-id=0,core-id=1,thread-id=0,$second"
fi

# /tmp is ours alone: many machines may run at once.
GUEST_SHELL=$shell "$here/initramfs.sh" "$arch" "$machine" "$stage" \
	/tmp/initramfs "$@"

# QEMU's own tree, but of the first two events, whose entries are the event twice and its counters
if [ "$board" ]; then
	# shellcheck disable=SC2086 # words
	$qemu -smp "$smp" -m "$mem" -display none -machine dumpdtb=/tmp/dtb >&2
	python3 -c 'import re
tree, n = re.subn(rb"(?s)(\0\0\0\x01\0\0\0\x01)....(\0\0\0\x02\0\0\0\x02)....",
                  lambda m: m[1] + b"\0\0\0\1" + m[2] + b"\0\0\0\4", open("/tmp/dtb", "rb").read())
assert n == 1
open("/tmp/dtb", "wb").write(tree)'
	qemu="$qemu -dtb /tmp/dtb"
fi

# An Oops is a panic, so that nothing hangs on after it; and the kernel's log
# must still have its first complaint when the job ends.
mkdir -p /src/build/log
# shellcheck disable=SC2086 # words
exec "$here/console.py" ${parallel:+--parallel} --log "/src/build/log/$machine.console" \
	--out "/src/build/out/$machine" --timeout "$timeout" \
	$qemu -smp "$smp" -m "$mem" -no-reboot -display none \
	-serial $serial -kernel "$kernel" -initrd /tmp/initramfs \
	${trace:+-trace "$trace" -D "/src/build/log/$machine.trace"} \
	-append "console=$console quiet panic=1 oops=panic log_buf_len=2M $append"
