#!/bin/sh
# usage: bench.sh
#
# Measures perfctr beside perf_events, in instructions, in an emulated machine in
# which an instruction is a nanosecond: a table, and bench/results.json.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
machine=riscv64-6.12

"$here/stage.sh" $machine
rm -f "$top/build/out/$machine/results.json"
"$here/boot.sh" $machine --icount --timeout 3000 /usr/bin/run-bench
cp "$top/build/out/$machine/results.json" "$top/bench/results.json"
