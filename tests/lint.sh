#!/bin/sh
# usage: lint.sh [CHECK...]
#
# Everything that reads our sources without running them. Each check is a test:
# `ok NAME`, `not ok NAME` after what it had to say, or `skipped NAME` and why, and a count at the end.
# CHECK is the name of a check, or its beginning; `quick` are those that take half a minute in all.
# SINCE=REVISION with them: of the sources those that have changed since, where that saves time.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# For these the build root `check` is enough.
quick='checkpatch layers lengths rooms names families behaviours pairs pieces programs papers shellcheck manuals versions commits'
# shellcheck disable=SC2086 # words
[ "$*" != quick ] || set -- $quick
root=check
for word; do
	case " $quick " in *" $word "*) ;; *) root=full ;; esac
done
[ $# != 0 ] || root=full

if [ -z "${INROOT-}" ]; then
	# Outside of the checkout: which sources clang-tidy has found good, with what (tidy.sh)
	good=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}}/perfctr/tidy
	lint=$here/../build/lint
	mkdir -p "$lint"
	if [ $root = full ]; then
		cp "$good" "$lint/tidy-good" 2>/dev/null || : >"$lint/tidy-good"
		: >"$lint/tidy-seen"
	fi
	case " $* " in "  " | *" commits "*) "$here/commits.sh" --gather || exit ;; esac
	rm -f "$lint/changed"
	if [ "${SINCE-}" ]; then
		# Those that git does not know yet too
		(cd "$here/.." && { git diff --name-only "$SINCE" && git ls-files -o --exclude-standard; }) \
			>"$lint/changed" || exit
	fi
	# What is compiled against must be there.
	case $#:$* in 0: | *kernel*) "$here/machines/linux.sh" ppc32 >/dev/null || exit ;; esac
	status=0
	"$here/machines/inroot" -r $root "/src/tests/${0##*/}" "$@" || status=$?
	[ $root = full ] || exit $status
	# Those that were seen last are last, and many runs' are kept.
	{ grep -vxFf "$lint/tidy-seen" "$lint/tidy-good"; cat "$lint/tidy-seen"; } |
		tail -n 5000 >"$good.$$" && mv "$good.$$" "$good"
	exit $status
fi
cd /src || exit

# shellcheck source=tests/wanted.sh
. tests/wanted.sh
passed=0 failed=0 skipped=0

# A command that ends with 77 has not found what it is about.
check() { # name command...
	name=$1
	shift
	is_wanted "$name" || return 0
	start=$(date +%s)
	status=0
	"$@" > "/tmp/$name" 2>&1 || status=$?
	case $status in
	0)
		passed=$((passed + 1))
		echo "ok lint-$name ($(($(date +%s) - start)) s)" ;;
	77)
		skipped=$((skipped + 1))
		echo "skipped lint-$name: $(cat "/tmp/$name")" ;;
	*)
		failed=$((failed + 1))
		sed 's/^/# /' "/tmp/$name"
		echo "not ok lint-$name" ;;
	esac
}

# Sources of a kind below the given directories; none at all is a failure.
sources() { # "find conditions" directory...
	conditions=$1
	shift
	# shellcheck disable=SC2086 # words
	find "$@" -type f $conditions | sort | grep . ||
		{ echo "no sources in: $*" >&2; return 1; }
}

# Of the names that are read those that have changed, if that was asked for
changed() {
	if [ -e build/lint/changed ]; then
		sed 's,^[.]/,,' | grep -xFf build/lint/changed || :
	else
		cat
	fi
}

checkpatch() {
	bad=
	files=$(sources "-name *.[chS]" module include) || return
	files=$(echo "$files" | changed)
	# compat.h is the one place that may compare versions (in mainline
	# nothing may), and KERNEL_VERSION() is no misplaced constant. A macro
	# that stands for nothing does not use its argument.
	for f in $files; do
		ignore=
		[ "$f" != module/base/compat.h ] ||
			ignore='--ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_UNUSED'
		# shellcheck disable=SC2086 # none or two words
		perl /opt/checkpatch.pl --no-tree --strict --show-types \
			--quiet $ignore -f "$f" || bad=1
	done
	[ -z "$bad" ]
}

# gcc's W=1, sparse and modpost, without their warnings about the kernel's headers. And
# each file calls only those below it.
kernel() { # machine
	rm -rf "build/lint/$1"
	tests/machines/kbuild.sh -d "build/lint/$1" "$1" W=1 C=2 \
		CHECK=/src/tests/machines/sparse >"/tmp/kbuild-$1" 2>&1 ||
		{ cat "/tmp/kbuild-$1"; return 1; }
	! grep -E "^(/src/)?build/lint/[^ ]*: (warning|error)|^(WARNING|ERROR): modpost" \
		-A 6 "/tmp/kbuild-$1" || return
	xargs tests/layers.sh <"build/lint/$1/module/perfctr.mod"
}

# A probe whose arguments are not its tracepoint's must not compile: here each of those
# that the architecture has is given one more.
probes() { # machine
	machine=$1 dir=build/lint/probes-$1
	here=/src/tests/machines
	# shellcheck source=tests/machines/machine.sh
	. "$here/machine.sh"
	rm -rf "$dir"
	"$here/kbuild.sh" -d "$dir" "$machine" >"/tmp/kbuild-$1" 2>&1 ||
		{ cat "/tmp/kbuild-$1"; return 1; }
	find "$dir/module" \( -name '*.c' -o -name compat.h \) -exec sed -i 's/void \*data, /void *data, int wrong, /' {} +
	case $arch in
	riscv64) vars='ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-' wanted=7 ;;
	arm64) vars='ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-' wanted=5 ;;
	*) vars=ARCH=x86 wanted=7 ;;
	esac
	# shellcheck disable=SC2086 # words
	! make -k -C "/usr/src/headers-$flavour" "M=/src/$dir/module" $vars modules \
		>"/tmp/kbuild-$1" 2>&1 || return 1
	found=$(grep -c 'in expansion of macro .PERFCTR_PROBE' "/tmp/kbuild-$1")
	[ "$found" = "$wanted" ] ||
		{ cat "/tmp/kbuild-$1"; echo "$found of $wanted probes were refused"; return 1; }
}

tidy() { # target
	# Not those of the other architecture, nor what runs on an x86_64 only, nor what is
	# around or in code of Linux's, libpfm4's or Open MPI's, which is not here, or needs what their makefiles make; as a PowerPC, of 32 bits, its own alone
	files=$(sources "-name *.c" lib tools tests bench examples) || return
	make -s -C tests/unit/driver "O=$PWD/build/unit/driver" shims >/dev/null || return
	own=${1%%-*}
	[ "$own" != powerpc ] || own=ppc32
	files=$(printf '%s\n' "$files" | awk -v own="_${own}[.]c$" -v arch="${1%%-*}" \
		'(!/_(ppc32|riscv64|x86_64)[.]c$/ || $0 ~ own) &&
		 (!/^tests\/unit\/driver\// || arch == "x86_64") &&
		 (arch == "powerpc") == (/_ppc32[.]c$/ || /^tests\/machines\/ppc32\//) &&
		 !/^tests\/machines\/(p5|reach)\// &&
		 !/driver\/linux\/linux[.]c$/ && !/^lib\/events\// && !/^tests\/machines\/mpi\// &&
		 !/^tests\/(unit\/test_(sets|tables|compat26)|guest\/(old\/events|suites\/test_manual))[.]c$/')
	# shellcheck disable=SC2086 # words
	printf '%s\n' $files | xargs -P "$(nproc)" -n 1 tests/tidy.sh "$1" 2>&1
}

shells() {
	# By their first line, or what they tell shellcheck: not all of them are named .sh
	files=$(grep -rlE '^#!.*\b(sh|dash|bash)( |$)|^# shellcheck shell=bash' \
		--exclude-dir=build --exclude-dir=.git . .ci | sort -u | changed)
	# shellcheck disable=SC2086 # words
	[ -z "$files" ] || shellcheck -x $files
}

manuals() {
	files=$(sources "-name *.[1-8]" docs/man) || return
	# shellcheck disable=SC2086 # words
	mandoc -T lint -W warning $files || return
	tests/manuals.sh
}

# The version is dkms.conf's. It also stands where each of its readers must find it: a file, and a line of it.
versions() {
	v=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)
	[ "$v" ] || return
	while read -r file line; do
		grep -q "^$line" "$file" || { echo "$file: no line $line"; bad=1; }
	done <<-EOF
		module/calls/handle.h #define PERFCTR_VERSION	"$v"$
		lib/Makefile VERSION := $v$
		lib/libperfctr/libperfctr.h #define LIBPERFCTR_VERSION	"$v"$
		tools/perfex/base/perfex.h #define PERFEX_VERSION	"$v"$
		bindings/python/pyproject.toml version = "$v"$
		bindings/rust/Cargo.toml version = "$v"$
		packaging/rpm/perfctr.spec Version: *$v$
		packaging/rpm/perfctr-kmod.spec Version: *$v$
		packaging/rpm/perfctr-kmp.spec Version: *$v$
		packaging/arch/PKGBUILD pkgver=$v$
		packaging/nix/default.nix , version ? "$v"$
		packaging/buildroot/perfctr.mk PERFCTR_VERSION = $v$
		packaging/debian/changelog perfctr ($v-
		packaging/hpc/modulefile set version $v$
		packaging/hpc/package.py [ ]*version("$v")$
		docs/install.md sudo dkms install perfctr/$v$
		CHANGELOG.md ## $v,
	EOF
	# Recipes have it in their names.
	for recipe in packaging/openembedded/*.bb; do
		[ "${recipe##*_}" = "$v.bb" ] || { echo "$recipe has another version"; bad=1; }
	done
	[ -z "${bad-}" ]
}

# The same of perfex, perfex-report and the library.
layers() {
	dir=build/lint/native bad=
	make -s lib perfex perfex-report "O=$PWD/$dir" || return
	for what in 'lib lib STATIC_OBJS' 'tools/perfex perfex OBJS' \
		'tools/perfex-report perfex-report OBJS'; do
		# shellcheck disable=SC2086 # words
		set -- $what
		# In the order of the makefile's list
		objects=$(make -s -C "$1" "O=$PWD/$dir/$2" --eval "list:; @echo \$($3)" list) ||
			return
		# shellcheck disable=SC2086 # words
		tests/layers.sh $objects || bad=1
	done
	[ -z "$bad" ]
}

# All that users build, by another compiler, and with another C library
compilers() {
	make -s CC=clang "O=$PWD/build/lint/clang" lib perfex perfex-report && musl && syntaxes
}

# Debian has the kernel's headers in glibc's directories alone.
musl() {
	headers=build/lint/musl/headers
	mkdir -p $headers
	ln -sfn /usr/include/linux $headers/linux
	ln -sfn /usr/include/asm-generic $headers/asm-generic
	ln -sfn /usr/include/x86_64-linux-gnu/asm $headers/asm
	make -s CC=musl-gcc CPPFLAGS="-idirafter $PWD/$headers" "O=$PWD/build/lint/musl" lib perfex
}

# The assembly of the library and of its headers is the same in Intel's syntax as in AT&T's.
syntaxes() {
	dir=build/lint/syntaxes bad=
	mkdir -p $dir
	cat >$dir/inline.c <<-'EOF'
		#include <libperfctr.h>
		unsigned long long reads(const struct vperfctr *, struct perfctr_sum_ctrs *,
					 struct perfctr_topdown *, unsigned int);
		unsigned long long reads(const struct vperfctr *v, struct perfctr_sum_ctrs *sums,
					 struct perfctr_topdown *topdown, unsigned int i)
		{
			return vperfctr_read_pmc_fenced(v, 1) + vperfctr_read_pmc(v, i) + vperfctr_read_tsc(v) +
			       vperfctr_read_reg(v, 24) + (unsigned int)vperfctr_snapshot(v, sums, 4) +
			       (unsigned int)vperfctr_snapshot(v, sums, i) +
			       (unsigned int)vperfctr_read_topdown(v, topdown);
		}
	EOF
	for cc in gcc 'gcc -m32 -march=i686' 'gcc -m32 -march=i586 -fPIC' clang 'clang -m32 -march=i686'; do
		for source in $dir/inline.c lib/libperfctr/correct.c tools/perfex/selftest/check_counts.c; do
			# Of 32 bits there are no headers of the C library.
			case $cc:$source in *-m32*:*/correct.c | *-m32*:*/check_counts.c) continue ;; esac
			for syntax in att intel; do
				# shellcheck disable=SC2086 # words
				$cc -D_GNU_SOURCE -Ilib/libperfctr -Iinclude/uapi -Itools/perfex \
					-isystem /usr/include/x86_64-linux-gnu \
					-Wall -Wextra -Werror -O2 -masm=$syntax -c -o $dir/$syntax.o "$source" &&
					objdump -d --no-show-raw-insn -M att $dir/$syntax.o |
						sed '/file format/d' >$dir/$syntax || return
			done
			cmp $dir/att $dir/intel ||
				{ diff $dir/att $dir/intel; echo "$source by $cc: another program"; bad=1; }
		done
	done
	[ -z "$bad" ]
}

# No source has more than 600 lines, and none of the tests more than 800: a reader knows what a file
# is about. Installed headers may.
lengths() {
	{
		find module lib tools -name '*.[chS]' ! -name libperfctr.h ! -name 'perfctr-*.h' \
			-exec awk 'FNR == 601 { print FILENAME }' {} +
		find tests -name '*.[chS]' -exec awk 'FNR == 801 { print FILENAME }' {} +
	} | { ! grep .; }
}

# No two files of one program have a static function of the same name: a trace would not tell which
# it was.
names() {
	for arch in module/arch/*/; do
		find module -path 'module/arch/*' ! -path "$arch*" -type f -o -name '*.c' -print |
			functions || return
	done
	for program in tools/perfex tools/perfex-report lib/libperfctr; do
		find "$program" -name '*.c' | functions || return
	done
}

# Reads names of files.
functions() {
	xargs grep -oHE '^static [^=;(]*[a-z0-9_]+\(' | grep -v ' ARRAY_SIZE($' |
		sed -E 's/^([^:]*):.*[^a-z0-9_]([a-z0-9_]+)\($/\2 \1/' | sort -u | awk '
		{ n[$1]++; where[$1] = where[$1] " " $2; all++ }
		END { for (name in n) if (n[name] > 1) { print name ":" where[name]; bad = 1 } exit bad || all < 60 }'
}

# Each source has a line in a README: of the module and of libperfctr in its folder's, of the tools
# in the tool's, and of the tables of events in lib's.
rooms() {
	{
		find module -mindepth 2 -name '*.[chS]' | sed -E 's,(.*)/([^/]*)[.].*,\1 \2,'
		find lib/libperfctr -name '*.[ch]' | sed -E 's,(.*)/([^/]*)[.].*,\1 \2,'
		find lib/events -name '*.[ch]' | sed -E 's,lib/(.*)[.].*,lib \1,'
		find tools -name '*.[ch]' | sed -E 's,(tools/[^/]*)/(.*)[.].*,\1 \2,'
	} | {
		bad=
		while read -r readme name; do
			grep -q "^- .*\`$name\`" "$readme/README.md" ||
				{ echo "$name: no line in $readme/README.md"; bad=1; }
		done
		[ -z "$bad" ]
	} && floors module 's/^| \[\([a-z]*\)\/.*/\1/p' -mindepth 2 &&
		floors tools/perfex 's/^## \([a-z]*\):.*/\1/p' -mindepth 1
}

# A source includes headers of its own folder and of earlier ones, in the order that the README
# has. Sources beside the README include any.
floors() { # directory "sed's command that prints the folders" condition...
	directory=$1
	order=$(sed -n "$2" "$directory/README.md" | tr '\n' ' ')
	shift 2
	find "$directory" "$@" -name '*.[ch]' -exec grep -oH '^#include "[^"]*' {} + |
		sed -E "s,^$directory/,," | awk -F '[/:"]' -v order="$order" '
	BEGIN { n = split(order, folder, " "); for (i = 1; i <= n; i++) place[folder[i]] = i }
	{
		found++
		if (/^[^\/]*:/)
			next
		to = $0
		sub(/.*"/, "", to)
		sub(/\/.*/, "", to)
		if (!($1 in place) || !(to in place) || place[to] > place[$1]) { print; bad = 1 }
	}
	END { exit bad || found < 100 }'
}

# Each test that the page on others' behaviours names, as `guest/suites/test_NAME.c: test, test`
behaviours() {
	# shellcheck disable=SC2016 # these are no commands
	grep -o '`[a-z0-9_/]*[.]c: [a-z0-9_, ]*`' docs/behaviours.md | tr -d '`:,' | {
		found=0 bad=
		while read -r file tests; do
			for t in $tests; do
				found=$((found + 1))
				grep -q "^START_TEST($t)" "tests/$file" ||
					{ echo "no $t in tests/$file"; bad=1; }
			done
		done
		[ -z "$bad" ] && [ $found -gt 50 ]
	}
}

# Each piece of code in these pages stands like that in the example that they named last before it. They
# name each example of their directory.
pieces() { # page directory
	awk -v directory="examples/$2/" '
	/^```./ { piece = ""; in_code = 1; next }
	/^```$/ && in_code {
		in_code = 0
		pieces++
		text = ""
		while ((getline line <example) > 0)
			text = text line "\n"
		close(example)
		if (piece == "" || !index(text, piece)) {
			print FILENAME ":" FNR ": " example " has no such piece:\n" piece
			bad = 1
		}
		next
	}
	in_code { piece = piece $0 "\n"; next }
	{
		rest = $0
		while (match(rest, directory "[a-z]+[.][a-z]+")) {
			example = substr(rest, RSTART, RLENGTH)
			print example >"/tmp/named"
			rest = substr(rest, RSTART + RLENGTH)
		}
	}
	END { exit bad || !pieces }' "docs/$1.md" || return
	for example in "examples/$2"/*; do
		grep -qxF "$example" /tmp/named || { echo "docs/$1.md does not name $example"; return 1; }
	done
}

all_pieces() {
	pieces cookbook cookbook && pieces integrations integrations
}

# README.md's program compiles and links; the pieces in docs/abi.md compile.
programs() {
	dir=build/lint/native
	make -s lib "O=$PWD/$dir" || return
	# shellcheck disable=SC2016 # these are no commands
	sed -n '/^```c$/,/^```$/{/^```/d;p}' README.md >$dir/readme.c
	{
		printf '#include <%s.h>\n' stdio unistd sys/ioctl sys/mman linux/perfctr
		echo 'void pieces(int fd) {'
		# shellcheck disable=SC2016 # these are no commands
		sed -n '/^```c$/,/^```$/{s/^```c$/{/;s/^```$/}/;p}' docs/abi.md
		echo '}'
	} >$dir/abi.c
	for page in readme abi; do
		[ "$(wc -l <$dir/$page.c)" -gt 15 ] || { echo "no program in $page"; return 1; }
		gcc -Wall -Wextra -Werror -Wno-unused-variable -Iinclude/uapi -Ilib/libperfctr \
			-c -o $dir/$page.o $dir/$page.c || return
	done
	gcc -o $dir/readme $dir/readme.o $dir/lib/libperfctr.a
}

# The numbers of a vendor's registers and events are in its family's folder alone.
families() {
	! grep -nE 'MSR_(P4|P5|P6|K7|F15H|AMD|ARCH_PERFMON|CORE_PERF|IA32|OFFCORE)|0x[0-9a-f]{3,}[^0-9a-f]' \
		module/arch/x86/*.[ch] |
		grep -vE ':[0-9]+:#define (LVTPC_|EVNTSEL_|PERFCTR_X86_NO_CORE|PERFCTR_X86_CHANGED|PERFCTR_X86_LOST)'
}

TIDY_VERSION=$(clang-tidy --version 2>/dev/null)
export TIDY_VERSION

only=${*:-all}
check checkpatch checkpatch
check kernel-riscv64 kernel riscv64-6.12
check kernel-arm64 kernel arm64-6.12
check kernel-x86_64 kernel x86_64-6.12
check kernel-ppc32 kernel 7450
check layers layers
check compilers compilers
check lengths lengths
check rooms rooms
check names names
check families families
check behaviours behaviours
check pairs tests/pairs.py --try
check pieces all_pieces
check programs programs
check papers tests/papers.py
check probes-riscv64 probes riscv64-6.12
check probes-arm64 probes arm64-6.12
check probes-x86_64 probes x86_64-6.12
check tidy-riscv64 tidy riscv64-linux-gnu
check tidy-arm64 tidy aarch64-linux-gnu
check tidy-x86_64 tidy x86_64-linux-gnu
check tidy-ppc32 tidy powerpc-linux-gnu
check shellcheck shells
check manuals manuals
check versions versions
check abi tests/abi.sh
check commits tests/commits.sh

[ $skipped = 0 ] && skipped='' || skipped=", $skipped skipped"
echo "$passed passed, $failed failed$skipped"
[ $failed = 0 ] && [ "$passed$skipped" != 0 ]
