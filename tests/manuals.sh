#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: manuals.sh
#
# Whether the pages in docs/man say what the headers and docs/abi.md say: each function of the
# library, each structure with its members, and each error of a call; and whether the pages that they
# refer to are there. Prints what is missing.
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

# What a page refers to is a page, or a function with a link to one. Others' begin with other words.
awk '
	FNR == 1 {
		page = FILENAME
		sub(/.*[/]/, "", page)
		there[page] = 1
		section = substr(page, length(page))
	}
	/^[.]Sh / { inside = $2 == "NAME" }
	/^[.]Nm / && inside { there[$2 "." section] = 1 }
	{
		n = split($0, word, /[ \t]+/)
		for (i = 1; i < n - 1; i++)
			if (word[i] ~ /^[.]?Xr$/ && word[i + 1] ~ /^(_?[rvg]?perfctr|libperfctr|perfex)/)
				asked[word[i + 1] "." word[i + 2]] = FILENAME
	}
	END {
		for (name in asked)
			if (!(name in there)) {
				print asked[name] ": there is no " name
				bad = 1
			}
		exit bad
	}' docs/man/*.[1-8] || bad=1

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

# Each error that the section of a call in docs/abi.md has is on the page of the library's call, in its ERRORS. Those
# that the library keeps from its callers are in perfctr(4).
errors_of() { # page
	awk '/^[.]Sh / { inside = $2 == "ERRORS" } inside' "docs/man/$1" | tr -c 'A-Z0-9' '\n'
}
errors() { # call page [error that is kept from callers]...
	call=$1 page=$2
	shift 2
	awk -F ' *[|] *' -v call="$call" '
		/^## / { inside = index(", " substr($0, 4) ",", ", " call ",") }
		inside && $2 ~ /^`E[A-Z0-9]+`/ { print $2 }
		' docs/abi.md | tr -d '` ' | tr ',' '\n' | sort -u >"$work/errors"
	[ -s "$work/errors" ] || { echo "docs/abi.md: no errors of $call"; bad=1; }
	while read -r error; do
		in=$page
		case " $* " in *" $error "*) in=perfctr.4 ;; esac
		errors_of "$in" | grep -qx "$error" ||
			{ echo "docs/man/$in: no $error, which docs/abi.md has of $call"; bad=1; }
	done <"$work/errors"
}
size='EINVAL E2BIG'
# shellcheck disable=SC2086 # words
{
	errors 'open(2)' perfctr_open.3
	errors OPEN perfctr_open.3 E2BIG EPERM ESRCH
	errors OPEN rvperfctr.3 E2BIG ENOENT EEXIST
	errors INFO perfctr_info.3 $size
	errors CPUS perfctr_info.3 $size EOVERFLOW
	errors CONTROL perfctr_control.3
	errors READ_CONTROL perfctr_control.3
	errors UNLINK perfctr_control.3
	errors SUSPEND perfctr_control.3
	errors RESUME perfctr_control.3
	errors READ perfctr_read.3 $size EINTR
	errors 'read(2)' perfctr_read.3 EINTR
	errors IRESUME perfctr_overflow.3
	errors REFRESH perfctr_overflow.3
	errors READ_TREE perfctr_tree.3 E2BIG EINTR
	errors NEXT_MEMBER perfctr_tree.3 $size EINTR
	errors ADD_MEMBER perfctr_tree.3 E2BIG
	errors RING perfctr_ring.3 EINTR
	errors READ_CPU gperfctr.3 E2BIG
	errors 'mmap(2)' perfctr_ring.3
	errors 'fcntl(2)' perfctr.4
}

exit $bad
