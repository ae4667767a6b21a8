#!/bin/sh
# usage: layers.sh OBJECT...
#
# OBJECTs are listed from below. Prints each use of a function or variable of a later
# object, and fails if there is any. An archive stands for its members, in their order.
set -eu

[ $# -gt 1 ] || { echo "layers: no objects" >&2; exit 2; }
nm -A "$@" | awk '
{
	sub(/:[0-9a-f ]*/, " ")		# FILE [MEMBER] TYPE NAME
	type = $(NF - 1)
	name = $NF
	if (!($1 in place))
		place[$1] = ++objects
	if (type == "U")
		uses[place[$1], name] = $1
	else if (type ~ /[A-Z]/ && !(name in owner))
		owner[name] = $1
}
END {
	for (key in uses) {
		split(key, part, SUBSEP)
		to = owner[part[2]]
		if (to != "" && place[to] > part[1]) {
			print uses[key] " uses " part[2] " of " to
			bad = 1
		}
		found += to != ""
	}
	if (!found) {
		print "none uses anything of another"
		bad = 1
	}
	exit bad
}'
