#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: kernel.sh [HEADER]
#
# In a build root, from the top: prints what programs are compiled with of the kernel's interface,
# each constant with its value, each structure with its size, each member with its type, place and
# size. All names are found in HEADER (include/uapi/linux/perfctr.h), so none can be left out. A line that
# does not hold on all architectures says on which it does.
set -eu

header=${1:-include/uapi/linux/perfctr.h}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiler() { # architecture
	case $1 in
	amd64) echo gcc ;;
	# Nothing is linked, so the kernel's headers are enough.
	i386) echo gcc -m32 -isystem /usr/include/x86_64-linux-gnu ;;
	arm64) echo aarch64-linux-gnu-gcc ;;
	riscv64) echo riscv64-linux-gnu-gcc ;;
	ppc32) echo powerpc-linux-gnu-gcc ;;
	esac
}

macros() { # compiler... (of a source on stdin)
	"$@" -E -dM -x c - | sort
}

# What is in the header itself, less what it includes
own_macros() { # compiler...
	sed -n '/^#include/p' "$header" | macros "$@" >"$work/others"
	macros "$@" <"$header" | comm -13 "$work/others" - | sed 's/^#define //; s/ $//'
}

# "STRUCT TYPE|NAME|ARRAY" of each member, without comments and macros. What is neither a structure nor
# a member, nor empty, is nothing that this knows.
members() { # compiler...
	"$@" -E -x c "$header" | awk -v header="$header" '
	/^# [0-9]/ { own = $3 == "\"" header "\""; next }
	!own || /^[ \t]*$/ { next }
	!inside && /^struct [a-z_0-9]+ [{]$/ { inside = $2; next }
	inside && /^};$/ { inside = ""; next }
	inside && match($0, /^[ \t]+(struct )?[a-z_0-9]+ [a-z_0-9]+([[][0-9]*[]])?;$/) {
		sub(/^[ \t]+/, "")
		sub(/;$/, "")
		array = ""
		if ((at = index($0, "["))) {
			array = substr($0, at)
			$0 = substr($0, 1, at - 1)
		}
		name = $NF
		sub(/ [^ ]*$/, "")
		print inside "|" $0 "|" name "|" array
		next
	}
	{ print "kernel.sh: this is not known: " $0 >"/dev/stderr"; exit 1 }'
}

# A function whose assembler text has "->NAME" and four pieces of 16 bits of each value
program() {
	echo "#include \"$header\""
	cat <<'END'
#define P(v, n) "i" ((int)((unsigned long long)(v) >> n & 0xffff))
#define SHOW(what, v) __asm__ volatile ("\n->" what "|%0 %1 %2 %3" : : \
	P(v, 48), P(v, 32), P(v, 16), P(v, 0))
void show(void);
void show(void)
{
END
	# Functions, initializers and what is empty have no value: their text is what counts.
	awk '$1 !~ /[(]/ && NF > 1 && $2 !~ /^[.]/ { printf "SHOW(\"%s\", %s);\n", $1, $1 }' "$work/macros"
	awk -F '|' '
	$1 != last { printf "SHOW(\"struct %s\", sizeof(struct %s));\n", $1, $1; last = $1 }
	{
		printf "SHOW(\"at %s %s\", __builtin_offsetof(struct %s, %s));\n", $1, $3, $1, $3
		if ($4 == "[]")
			printf "SHOW(\"of %s %s\", 0);\n", $1, $3
		else
			printf "SHOW(\"of %s %s\", sizeof(((struct %s *)0)->%s));\n", $1, $3, $1, $3
	}' "$work/members"
	echo '}'
}

# Members have no room between them, nor behind them: the kernel would give away what is there, and it would not be
# the same on all architectures; and a member that was not found would be such room.
list() { # (values on stdin)
	awk -F '|' '
	FILENAME != "-" {
		text[++members] = $1 "|" $2 "|" $3 "|" $4
		next
	}
	{
		split($2, piece, " ")
		hex = sprintf("%04x%04x%04x%04x", piece[1], piece[2], piece[3], piece[4])
		sub(/^0+/, "", hex)
		if ($1 ~ /^(struct|at|of) /)
			bytes[$1] = piece[3] * 65536 + piece[4]
		else
			print $1 " 0x" (hex == "" ? 0 : hex)
	}
	END {
		for (i = 1; i <= members; i++) {
			split(text[i], m, "|")
			if (m[1] != last)
				print "struct " m[1] ": " bytes["struct " m[1]] " bytes"
			at = bytes["at " m[1] " " m[3]]
			of = bytes["of " m[1] " " m[3]]
			print "struct " m[1] ": " m[2] " " m[3] m[4] " at " at ", " of " bytes"
			if (at != (m[1] == last ? end : 0)) {
				print "struct " m[1] " has a hole before " m[3] >"/dev/stderr"
				exit 1
			}
			end = at + of
			last = m[1]
			split(text[i + 1], next_one, "|")
			if (next_one[1] != last && end != bytes["struct " last]) {
				print "struct " last " has a hole at its end" >"/dev/stderr"
				exit 1
			}
		}
		exit !members
	}' "$work/members" -
}

for arch in amd64 i386 arm64 riscv64 ppc32; do
	cc=$(compiler $arch)
	# shellcheck disable=SC2086 # words
	{
		own_macros $cc >"$work/macros"
		members $cc >"$work/members"
		program >"$work/source.c"
		$cc -S -I. -o "$work/source.s" "$work/source.c"
	}
	# x86 and arm64 have a sign before each number.
	sed -n '/^->/s/->\|[$#]//gp' "$work/source.s" >"$work/values"
	{
		awk '$1 ~ /[(]/ || NF == 1 || $2 ~ /^[.]/' "$work/macros"
		list <"$work/values"
	} >"$work/list"
	echo "== $arch"
	cat "$work/list"
done >"$work/all"

# Each line once, where it came first. A list that is empty would hold everywhere.
awk '
/^== / { here = $2; archs++; next }
!($0 in on) { order[++lines] = $0 }
{ on[$0] = on[$0] " " here; count[$0]++ }
END {
	for (i = 1; i <= lines; i++) {
		line = order[i]
		print line (count[line] < archs ? " (" substr(on[line], 2) " only)" : "")
	}
	exit archs != 5 || lines < 100
}' "$work/all"
