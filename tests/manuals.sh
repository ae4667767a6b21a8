#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: manuals.sh
#
# Whether the pages in docs/man say what the headers say: each function of the library, and each
# structure with its members. Prints what is missing.
set -u

cd "$(dirname "$0")/.." || exit
headers='lib/libperfctr/libperfctr.h lib/libperfctr/perfctr-meter.h include/uapi/linux/perfctr.h'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# Each function has its name and how it is called on one page, and a word on it further down.
# The vperfctr_ask_*() are the header's own.
sed -n 's/^\t\([a-z_0-9]*\);/\1/p' lib/libperfctr/libperfctr.map |
grep -v '^vperfctr_ask_[prs]' | grep -v '^vperfctr_ask_tsc$' >"$work/functions"
awk '
	FNR == 1 { pages = pages " " FILENAME }
	/^[.]Sh / { section = /NAME|SYNOPSIS/ ? substr($0, 5) : "the text" }
	/^[.]Nm / && section == "NAME" { on[$2] = on[$2] " " FILENAME }
	{
		n = split($0, word, /[^A-Za-z_0-9]+/)
		for (i = 1; i <= n; i++)
			has[FILENAME, section, word[i]] = 1
	}
	END {
		while ((getline name <functions) > 0) {
			page = substr(on[name], 2)
			if (page == "" || page ~ / /) {
				print name ": in NAME of " (page == "" ? "no page" : page)
				bad = 1
				continue
			}
			for (i = split("SYNOPSIS,the text", where, ","); i; i--)
				if (!((page, where[i], name) in has)) {
					print page ": no " name " in " where[i]
					bad = 1
				}
		}
		exit bad
	}' "functions=$work/functions" docs/man/*.3 || bad=1

# "NAME: type member; type member; ...", of each structure and enum, without comments. One that
# differs from machine to machine is there several times.
structures() { # file...
	cat "$@" | tr '\n' '\r' | sed 's|/[*][^*]*[*][*]*\([^/*][^*]*[*][*]*\)*/||g' | tr '\r' '\n' |
		awk '
		/^(struct|enum) [a-z_0-9]+ [{]$/ { name = $1 " " $2; text = ""; inside = 1; next }
		inside && /^};?$/ { print name ":" text; inside = 0; next }
		inside { gsub(/[ \t]+/, " "); sub(/ $/, ""); text = text $0 }
		' | sort -u
}
# shellcheck disable=SC2086 # words
structures $headers >"$work/headers"
structures docs/man/*.[34] >"$work/pages"
[ "$(wc -l <"$work/headers")" -gt 30 ] ||
	{ echo "only $(wc -l <"$work/headers") structures found in the headers"; bad=1; }
if ! diff "$work/headers" "$work/pages" >"$work/difference"; then
	echo "structures of the headers (<) and of docs/man (>):"
	cat "$work/difference"
	bad=1
fi

exit $bad
