# SPDX-License-Identifier: LGPL-2.1-or-later
#
# awk -f codes.awk LICENSE.libpfm4 TABLE... events_ppc.c names26.h
#
# Writes perfctr_event_codes.h, which defines PREFIX_NAME as the number of the event, for each event in
# the tables and in events_ppc.c. The prefix of a table is the name of its file. For a Pentium 4 the
# number is the ESCR's event select alone, as in perfctr 2.6's file. names26.h is copied.

BEGIN {
	print "/* The events of each type of processor; see perfctr_cpu_event_set() in libperfctr.h. */"
	print "#ifndef PERFCTR_EVENT_CODES_H"
	print "#define PERFCTR_EVENT_CODES_H"
	print ""
	print "/*"
}

FILENAME ~ /LICENSE/ {
	print " *" ($0 == "" ? "" : " " $0)
	next
}

FNR == 1 {
	if (!commented++)
		print " */"
	print ""
	prefix = FILENAME
	sub(/.*\//, "", prefix)
	sub(/[.]inc$/, "_", prefix)
	prefix = toupper(prefix)
}

# The lines of a table
/^\t\{ 0x/ {
	code = $2
	sub(/,$/, "", code)
	# The tables have the ESCR select before the last two digits.
	if (prefix ~ /^P4/)
		sub(/^0x.*/, "0x" substr("0" substr(code, 3), length(code) - 2), code)
	split($0, part, "\"")
	print "#define " prefix part[2] "\t" code
}

FILENAME ~ /names26/ && /^#define/ {
	print
	next
}

# The lists in events_ppc.c
/^#define PPC_[0-9a-z]+_EVENTS/ {
	prefix = $2
	sub(/EVENTS.*/, "", prefix)
}

/^#define COMMON/ {
	prefix = ""
}

/^\tE\(0x/ {
	code = $1
	sub(/^E\(/, "", code)
	sub(/u,$/, "", code)
	split($0, part, "\"")
	if (prefix == "")
		common[++ncommon] = part[2] "\t" code
	else
		print "#define " prefix part[2] "\t" code
}

/^\tCOMMON\(/ {
	for (i = 1; i <= ncommon; i++)
		print "#define " prefix common[i]
}

END {
	print ""
	print "#endif"
}
