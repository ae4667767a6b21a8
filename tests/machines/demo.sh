#!/bin/sh
# usage: demo.sh
#
# Runs a real program under real counters in an emulated RISC-V machine, and, in
# a terminal and unless SHELL_IN_GUEST=0, gives a shell there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
machine=riscv64-6.12

if "$here/root.sh" --there demo >/dev/null; then
	echo "perfctr: the demo: builds what has changed, boots an emulated machine: 10 seconds to half a minute" >&2
else
	echo "perfctr: the demo: fetches 280 MB, makes 700 MB of build root in the cache, builds, boots an" \
		"emulated machine: two minutes, the first time" >&2
fi
"$here/stage.sh" --demo $machine
shell=''
if [ -t 0 ] && [ -t 1 ] && [ "${SHELL_IN_GUEST-}" != 0 ]; then
	shell=--shell
fi
echo "perfctr: booting Debian's riscv64 kernel in QEMU" >&2
# shellcheck disable=SC2086 # none or one word
exec "$here/boot.sh" $machine --icount --stage /src/build/stage/demo $shell /usr/bin/demo
