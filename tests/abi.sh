#!/bin/sh
# usage: abi.sh [--write]
#
# Whether programs that were built for perfctr 7.0.0 go on running: tests/abi has what they rely on, of
# the library each function and type (library.abi is amd64's, by abidw, and ARCHITECTURE.patch makes
# another's of it), of the kernel's interface each constant, structure and member (kernel, by
# abi/kernel.sh). What is gone or different fails.
# What is new in the library is no difference; in the kernel's interface it fails until it is written, so
# that the list is never without a constant. --write makes the texts anew.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ "${INROOT-}" ] || exec "$here/machines/inroot" -r full "/src/tests/${0##*/}" "$@"
cd /src

say() { echo "abi.sh: $*"; }

write=
case $*:$# in
:0) ;;
--write:1) write=y ;;
*) say "usage: abi.sh [--write]" >&2; exit 2 ;;
esac
# Without it nothing would be known.
command -v abidiff >/dev/null || { say "there is no abidiff here (Debian: abigail-tools)"; exit 1; }

bad='' kept=tests/abi header=include/uapi/linux/perfctr.h
out=build/lint/abi
rm -rf $out/headers
mkdir -p $out/headers

# Types that are in none of these are private.
# shellcheck disable=SC2016 # make expands it
for h in $(make -s -C lib --eval 'list:; @echo $(HEADERS)' list); do
	cp "lib/libperfctr/$h" $out/headers
done
cp $header $out/headers

library() { # architecture compiler's-prefix
	so=$out/$1/libperfctr.so now=$out/$1.abi
	# Types are the same without optimizing, which takes half of the time.
	make -s -j"$(nproc)" -C lib "CROSS_COMPILE=$2" "O=$PWD/$out/$1" CFLAGS=-g "$PWD/$so"
	# Nothing of where it was built, nor of what is none of ours
	abidw --drop-private-types --exported-interfaces-only --headers-dir $out/headers \
		--drop-undefined-syms --no-load-undefined-interfaces \
		--no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
		--no-parameter-names --no-write-default-sizes --type-id-style hash \
		--out-file "$now" "$so"
	before=$kept/library.abi
	if [ "$write" ]; then
		if [ "$1" = amd64 ]; then
			cp "$now" $before
		else
			diff -U0 --label library.abi --label "$1" $before "$now" >"$kept/$1.patch" ||
				[ $? = 1 ]
		fi
		return
	fi
	if [ "$1" != amd64 ]; then
		patch -s -o "$out/$1.before" $before "$kept/$1.patch"
		before=$out/$1.before
	fi
	# Both are texts: of the library itself abidiff would know private types, and where each stands.
	if ! abidiff --no-added-syms "$before" "$now"; then
		say "libperfctr.so of $1 is not what programs were built for: see above"
		bad=1
	fi
}

kernel() {
	$kept/kernel.sh >$out/kernel
	if [ "$write" ]; then
		cp $out/kernel $kept/kernel
		return
	fi
	# A structure whose first member is its size may grow at its end.
	awk -v kept=$kept/kernel -v header=$header '
	function complain(text) { print "abi.sh: " header ": " text; bad = 1 }
	{ now[$0]; order[++lines] = $0 }
	/^struct .*: [0-9]+ bytes$/ { bytes[$2] = $3 }
	/^struct .*: __u32 size at 0, 4 bytes$/ { may_grow[$2] }
	END {
		while ((getline line <kept) > 0) {
			before[line]
			split(line, word, " ")
			if (!(line in now) && !(line ~ /^struct .*: [0-9]+ bytes$/ &&
			    word[2] in may_grow && bytes[word[2]] > word[3]))
				complain("programs rely on this, which is gone or different: " line)
		}
		for (i = 1; i <= lines; i++)
			if (!(order[i] in before))
				complain("tests/abi.sh --write is to note this, which is new: " order[i])
		exit bad
	}' $out/kernel || bad=1
}

library amd64 ''
library arm64 aarch64-linux-gnu-
library riscv64 riscv64-linux-gnu-
library ppc32 powerpc-linux-gnu-
kernel
[ -z "$bad" ]
