#!/bin/sh
# usage: ppc32-rules.sh [CPU...]
#
# Boots a program without an operating system (ppc32/rules.c) on emulated 32-bit PowerPCs, one
# after the other, and has it check the rules of their performance monitors: on all, or on
# those that are named as by qemu-system-ppc -cpu help. With PMXE cleared by hardware, and
# without: README.md, "PowerPC's counters".
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

if [ "${1-}" != --inside ]; then
	cd "$top"
	[ $# -gt 0 ] || set -- 604 604e 740 750 755 750fx 7400 7410 7450 7457 7447a
	qemu=$(tests/machines/qemu/build.sh others)
	exec tests/machines/inroot -r full tests/machines/ppc32-rules.sh --inside "$qemu" "$@"
fi

# --- Inside of the build root

qemu=$2
shift 2
out=build/ppc32-rules log=build/log/ppc32-rules
rm -rf $out $log
mkdir -p $out $log

compile() { # program [option...]
	program=$1
	shift
	powerpc-linux-gnu-gcc -mcpu=750 -msoft-float -ffreestanding -nostdlib -static \
		-std=gnu11 -O2 -Wall -Wextra -Werror -fno-pic -fno-stack-protector \
		-fno-asynchronous-unwind-tables -Wl,--build-id=none \
		-Wl,-T,tests/machines/ppc32/rules.ld -o "$out/$program" "$@" \
		tests/machines/ppc32/rules.c tests/machines/ppc32/rules_io.c \
		tests/machines/ppc32/rules_asm.S -lgcc
}

boot() { # cpu program option...
	name=$1,$2
	echo "perfctr: $name"
	status=0
	timeout -k 5 60 "$qemu/qemu-system-ppc" -M mac99 -cpu "$1,pmu=on$3" \
		-icount shift=0,sleep=off -nic none -vga none -display none -monitor none \
		-serial stdio -bios "$out/$2" </dev/null >"$log/$name" 2>&1 || status=$?
	# Its last line says that it came to its end.
	[ $status = 0 ] && tail -n 1 "$log/$name" | grep -q ' passed, ' ||
		echo "not ok $name: ended with status $status" >>"$log/$name"
	grep -v -e '^ok ' -e ' passed, ' "$log/$name"
}

compile clears
compile keeps -DKEEPS_PMXE
for cpu; do
	boot "$cpu" clears ''
	boot "$cpu" keeps ,pmu-keeps-pmxe=on
done
passed=$(cat $log/* | grep -c '^ok ' || :)
failed=$(cat $log/* | grep -c '^not ok ' || :)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
