# shellcheck shell=sh disable=SC2034 # sourced
#
# What the machine $machine is, for the scripts that source this:
#
#   arch	riscv64, x86_64, i386, arm64 or ppc32: what its programs are built for
#   gnu		how GNU calls that, and QEMU
#   suite	the build root with its kernel and what builds modules for it
#   programs	the build root that builds the programs
#   boots	the build root that boots it
#   flavour	Debian's name of the kernel
#   linux	the kernel's name in linux.sh, if it is one of those and not Debian's
#   checker	... and it checks itself
#   module	the first machine that has this kernel, and so the same module
#   cpu		QEMU's words for the processor
#   second	the same for the second CPU, where that is another
#   threads	of each package, which has one core; empty: one thread, and packages as QEMU has them
#   patched	QEMU's stock program is not enough
#   icount	there is nothing without the instruction clock
#   append	what else the kernel is told
#   board	RISC-V: the device tree has cycles and instructions on their own counters alone
#   opensbi	RISC-V: with Debian testing's firmware, and not QEMU's own
#
# Processors with counters have names of their own, and may be followed by a kernel:
# nehalem, nehalem-testing, nehalem-6.1. nehalem-i386 has nehalem's kernel, and all
# programs are of 32 bits. Names that begin with a digit are PowerPC's.

arch='' suite=check programs=check boots=check flavour='' linux='' checker='' module=$machine patched='' icount=''
append='' second='' threads='' board='' opensbi=''

case $machine in
riscv64-6.12 | riscv64-testing | riscv64-debug | riscv64-rt)
	arch=riscv64 cpu=rv64,sscofpmf=true ;;
riscv64-smcntrpmf)
	arch=riscv64 cpu=rv64,sscofpmf=true,smcntrpmf=true ;;
riscv64-nopmu)
	arch=riscv64 cpu=rv64,pmu-mask=0 ;;
riscv64-thead)
	arch=riscv64 cpu=thead-c906 ;;
riscv64-board)
	arch=riscv64 cpu=rv64,sscofpmf=true board=y ;;
riscv64-opensbi)
	arch=riscv64 cpu=rv64,sscofpmf=true opensbi=y ;;
arm64-6.12)
	arch=arm64 cpu=cortex-a72 ;;
x86_64-6.1 | x86_64-6.12 | x86_64-testing | x86_64-rt | x86_64-debug | x86_64-kcsan)
	arch=x86_64 cpu=max,pmu=off ;;
# Linux's drivers know a processor by these numbers only. The first two were never sold
# with 64 bits.
p6 | p6-testing | p6-6.1)
	arch=x86_64 cpu=qemu64,vendor=GenuineIntel,family=6,model=8,level=9 ;;
# Pentium 4s: Willamette, Northwood (both of which were never sold with 64 bits) and Prescott; -ht: with
# --smp 2 hyperthreads of one core, and not two cores. Linux warns about these unless it is told not to
# mitigate anything.
p4 | p4-testing | p4-6.1 | p4-5.10 | p4m2* | p4m3*)
	append=mitigations=off threads=1
	arch=x86_64 cpu=qemu64,vendor=GenuineIntel,family=15
	case $machine in
	p4 | p4-*) cpu=$cpu,model=1,level=2 ;;
	p4m2 | p4m2-testing | p4m2-6.1 | p4m2-5.10) cpu=$cpu,model=2,level=2 ;;
	p4m2-ht | p4m2-ht-5.10) cpu=$cpu,model=2,level=2 threads=2 ;;
	p4m3 | p4m3-testing | p4m3-6.1 | p4m3-5.10) cpu=$cpu,model=4,stepping=9,level=5 ;;
	p4m3-ht | p4m3-ht-5.10) cpu=$cpu,model=4,stepping=9,level=5 threads=2 ;;
	*) arch='' ;;
	esac ;;
core | core-testing | core-6.1)
	arch=x86_64 cpu=qemu64,vendor=GenuineIntel,family=6,model=14,pmu-version=1 ;;
core2 | core2-testing | core2-6.1)
	arch=x86_64 cpu=Conroe,pmu-version=2 ;;
nehalem | nehalem-testing | nehalem-6.1)
	arch=x86_64 cpu=Nehalem,pmu-version=3 ;;
nehalem-i386)
	arch=i386 cpu=Nehalem,pmu-version=3 ;;
pentium3)
	arch=i386 cpu=pentium3 ;;
pentiumm)
	arch=i386 cpu=pentium3,model=13,sse2=on ;;
skylake | skylake-testing | skylake-6.1 | skylake-rt)
	# Without this Linux warns that it lacks mitigations against speculation.
	append=mitigations=off
	arch=x86_64 cpu=Nehalem,model=94,pmu-version=4 ;;
icelake | icelake-testing | icelake-6.1)
	arch=x86_64 cpu=Nehalem,model=106,pmu-version=5,pdcm=on,full-width-write=on ;;
icelake-topdown | icelake-topdown-testing | icelake-topdown-6.1 | icelake-debug | icelake-kcsan)
	# icelake with the counter of slots and level 1 of TopDown's metrics
	arch=x86_64 cpu=Nehalem,model=106,pmu-version=5,pdcm=on,full-width-write=on
	cpu=$cpu,pmu-fixed-counters=4,perf-metrics=on ;;
sapphirerapids | sapphirerapids-testing | sapphirerapids-6.1)
	# level 2 too
	arch=x86_64 cpu=Nehalem,model=143,pmu-version=5,pdcm=on,full-width-write=on
	cpu=$cpu,pmu-fixed-counters=4,perf-metrics=on ;;
hybrid)
	# icelake's counters, and a second core of another type
	append="nmi_watchdog=0 mitigations=off"
	arch=x86_64 cpu=Nehalem,model=151,pmu-version=5,pdcm=on,full-width-write=on,core-type=0x40
	second=core-type=0x20,pmu-counters=6 ;;
# AMD's. The first is an Athlon, the last has global control of its counters.
k7)
	arch=i386 cpu=athlon ;;
k8 | k8-testing | k8-6.1)
	arch=x86_64 cpu=Opteron_G1 ;;
fam10h | fam10h-testing | fam10h-6.1)
	arch=x86_64 cpu=Opteron_G3 ;;
fam15h | fam15h-testing | fam15h-6.1)
	append=mitigations=off
	arch=x86_64 cpu=EPYC,family=21,model=2,perfctr-core=on ;;
zen2 | zen2-testing | zen2-6.1)
	append=mitigations=off
	arch=x86_64 cpu=EPYC-Rome,perfctr-core=on ;;
zen4 | zen4-testing | zen4-6.1)
	append=mitigations=off
	arch=x86_64 cpu=EPYC-Genoa,perfctr-core=on,perfmon-v2=on,lbr-pmc-freeze=on ;;
# Older ones. Linux needs CMOV, so all are a Pentium III by another name. Their kernel has no PAE, and looks for
# a PnP BIOS, which is not there.
p5 | p5mmx | mii | c6 | winchip2 | c3)
	arch=i386 linux=686 append=noisapnp
	case $machine in
	p5) cpu=pentium3,family=5,model=2,mmx=off,sse=off ;;
	p5mmx) cpu=pentium3,family=5,model=4 ;;
	mii) cpu=pentium3,vendor=CyrixInstead,family=6,model=0 ;;
	c6) cpu=pentium3,vendor=CentaurHauls,family=5,model=4 ;;
	winchip2) cpu=pentium3,vendor=CentaurHauls,family=5,model=8 ;;
	c3) cpu=pentium3,vendor=CentaurHauls,family=6,model=7 ;;
	esac ;;
604 | 604e | 750 | 7400 | 7450 | 7457)
	arch=ppc32 cpu=$machine linux=ppc32 ;;
750-plain | 7450-plain | 750-debug | 7450-debug)
	arch=ppc32 cpu=${machine%-*} linux=ppc32-${machine##*-} ;;
*)
	echo "perfctr: no machine '$machine'" >&2
	exit 2 ;;
esac

[ "$arch" ] || { echo "perfctr: no machine '$machine'" >&2; exit 2; }

# What `make check` does not need is in the root `full`.
case $machine in
arm64-* | [67]*) suite=full programs=full boots=full ;;
riscv64-*) suite=demo boots=demo ;;
*-rt) suite=full boots=full ;;
x86_64-*) boots=full ;;
esac
case $machine in
*-testing) suite=testing ;;
*-6.1 | pentium3 | pentiumm | k7 | p5 | p5mmx | mii | c6 | winchip2 | c3) suite=bookworm ;;
*-5.10) linux=5.10 ;; # for perf alone: the module is of another kernel
riscv64-debug | riscv64-rt) linux=$machine checker=y ;;
[67]*-debug) checker=y ;; # $linux is set
*-debug | *-kcsan) linux=x86_64-${machine##*-} checker=y ;;
esac
case $machine in
*-rt) flavour=rt-amd64 ;;
pentium3 | pentiumm | k7) flavour=686-pae ;;
p5 | p5mmx | mii | c6 | winchip2 | c3) flavour=686 ;;
*) flavour=amd64 ;;
esac
case $machine in
x86_64-*) ;;
riscv64-*) flavour=riscv64 ;;
arm64-*) flavour=arm64 ;;
*)
	cpu=$cpu,pmu=on
	patched=y icount=y ;;
esac
[ "$arch" != i386 ] || programs=bookworm
gnu=$arch
[ "$arch" != arm64 ] || gnu=aarch64
[ "$arch" != ppc32 ] || gnu=powerpc
case $machine in
riscv64-smcntrpmf | riscv64-nopmu | riscv64-thead | riscv64-board | riscv64-opensbi) module=riscv64-6.12 ;;
riscv64-* | x86_64-* | arm64-* | pentium3 | p5) ;;
pentiumm | k7) module=pentium3 ;;
p5mmx | mii | c6 | winchip2 | c3) module=p5 ;;
[67]*-plain | [67]*-debug) module=7450-${machine##*-} ;;
[67]*) module=7450 ;;
*-testing) module=x86_64-testing ;;
*-6.1) module=x86_64-6.1 ;;
*-rt | *-debug | *-kcsan) module=x86_64-${machine##*-} ;;
*) module=x86_64-6.12 ;;
esac
