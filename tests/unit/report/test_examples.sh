#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: test_examples.sh PERFEX-REPORT RECORDING PAGE...
#
# The commands with perfex report and perfex annotate that the manual pages have as examples, on
# a recording that RECORDING writes of a program with a function compress_block. Each must end with 0
# and name that function. All other commands run in an emulated machine: tests/guest/suites/test_examples.sh.
# Then what only the program itself shows, or its makefile.
set -eu

report=$(realpath "$1")
recording=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -f "$here/../../guest/kit/manual.awk" -v "out=$work" "$@"
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
check() { # NAME COMMAND...
	name=$1
	shift
	if "$@" >out 2>&1; then
		passed=$((passed + 1))
		echo "ok examples.$name"
	else
		failed=$((failed + 1))
		sed 's/^/# /' out
		echo "not ok examples.$name"
	fi
}

# In place of debuginfod's library, which libdw loads: it notes that a server would be asked.
cat >fake.c <<'END'
#include <stdio.h>
#include <stdlib.h>
void *debuginfod_begin(void) { return malloc(1); }
void debuginfod_end(void *client) { free(client); }
void debuginfod_set_progressfn(void *client, void *fn) { (void)client; (void)fn; }
static int find(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	FILE *f = urls && *urls ? fopen("asked", "w") : NULL;

	return f ? fclose(f), -2 : -38;
}
int debuginfod_find_debuginfo(void) { return find(); }
int debuginfod_find_executable(void) { return find(); }
END
gcc -shared -fPIC -o libdebuginfod.so.1 fake.c
cp compress stripped
strip stripped
"$recording" "$work/stripped" $((address - 0x400000)) stripped.rec
no_server_is_asked() {
	for command in report annotate; do
		DEBUGINFOD_URLS=http://localhost LD_LIBRARY_PATH=$work "$report" $command -i stripped.rec || :
	done
	[ ! -e asked ]
}
a_server_is_asked() {
	DEBUGINFOD_URLS=http://localhost LD_LIBRARY_PATH=$work "$report" report --debuginfod -i stripped.rec
	[ -e asked ]
}
# With flags by which its header cannot be read nothing is made.
libdw_is_probed_with_our_flags() {
	make -s -C "$here/../../../tools/perfex-report" O="$work/none" CPPFLAGS='-include nowhere.h' | grep 'are not made'
}
check libdw_is_probed_with_our_flags libdw_is_probed_with_our_flags
check no_server_is_asked no_server_is_asked
check a_server_is_asked a_server_is_asked
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 7 ]
