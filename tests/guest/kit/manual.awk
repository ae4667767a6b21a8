# SPDX-License-Identifier: GPL-2.0
# usage: awk -f manual.awk -v out=DIR PAGE.N...
#
# The examples of manual pages. A literal block behind a line `.\" example: NAME` becomes
# DIR/PAGE-NAME.inc; all other literal blocks must be structures (tests/manuals.sh). A command, which
# is a line `.Dl $ COMMAND`, becomes a line of DIR/commands, behind `PAGE.N` and a tab.

function fail(what) {
	print FILENAME ":" FNR ": " what > "/dev/stderr"
	exit bad = 1
}

# What roff makes of it
function text(line) {
	gsub(/\\e/, "\001", line)
	gsub(/\\&/, "", line)
	gsub(/\\-/, "-", line)
	if (line ~ /\\/)
		fail("an escape that is not known: " line)
	gsub(/\001/, "\\", line)
	return line
}

BEGIN {
	printf "" > (out "/commands")
}

FNR == 1 {
	page = FILENAME
	sub(/.*\//, "", page)
	base = page
	sub(/[.][0-9]$/, "", base)
}

/^[.]Dl [$] / {
	print page "\t" text(substr($0, 7)) > (out "/commands")
}

/^[.]\\" example: / {
	name = $3
	next
}

/^[.]Bd -literal/ {
	inside = 1
	to = name == "" ? "" : out "/" base "-" name ".inc"
	if (to != "" && to in made)
		fail("another example of this name: " name)
	made[to] = 1
	next
}

name != "" && !inside {
	fail("no .Bd -literal behind the name of an example")
}

/^[.]Ed/ {
	inside = 0
	name = ""
	first = 0
	next
}

inside && to != "" {
	print text($0) > to
}

inside && to == "" && !first++ && !/^(struct|enum) [a-z_0-9]+ [{]$/ {
	fail("neither a structure nor an example with a name")
}

END {
	if (inside && !bad)
		fail("no .Ed")
	exit bad
}
