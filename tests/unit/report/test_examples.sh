#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: test_examples.sh PERFEX-REPORT RECORDING PAGE...
#
# The commands with perfex report and perfex annotate that the manual pages have as examples, on
# a recording that RECORDING writes of a program with a function compress_block. Each must end with 0
# and name that function. All other commands run in an emulated machine: tests/guest/test_examples.sh.
set -eu

report=$(realpath "$1")
recording=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -f "$here/../../guest/manual.awk" -v "out=$work" "$@"
cd "$work"
cat >compress.c <<'END'
static volatile unsigned int sum;
__attribute__((noinline)) void compress_block(unsigned int n)
{
	while (n--)
		sum += n;
}
int main(void)
{
	compress_block(100);
	return 0;
}
END
gcc -O1 -g -no-pie -Wl,-Ttext-segment=0x400000 -o compress compress.c
address=0x$(nm compress | sed -n 's/ [tT] compress_block$//p')
"$recording" "$work/compress" $((address - 0x400000)) perfex.rec
mkdir bin
printf '#!/bin/sh\nexec %s "$@"\n' "$report" >bin/perfex
chmod 755 bin/perfex

passed=0 failed=0
tab=$(printf '\t')
while IFS=$tab read -r page command; do
	case $command in
	'perfex report'* | 'perfex annotate'*) ;;
	*) continue ;;
	esac
	: >flame.svg
	if PATH=$work/bin:$PATH sh -c "$command" >out 2>&1 </dev/null &&
		grep -q compress_block out flame.svg; then
		passed=$((passed + 1))
		# As in the emulated machine
		echo "ok examples.$page: $command"
	else
		failed=$((failed + 1))
		sed 's/^/# /' out
		echo "not ok examples.$page: $command"
	fi
done <commands
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 4 ]
