# SPDX-License-Identifier: GPL-2.0
#
# What Linux's driver of Intel's counters knows of each model, and that of AMD's of family 15h, as C for
# linux.c:
#
#	awk -f extract.awk SOURCE/arch/x86/{include/asm/intel-family.h,include/asm/perf_event.h,
#		events/perf_event.h,events/core.c,events/intel/core.c,events/intel/p6.c,
#		events/amd/core.c}
#
# Also what perf's cache events are on each model. Tables, macros and functions are taken as they are. Of
# intel_pmu_init() and the functions that it calls for one kind of core only those statements are left
# which say what applies to a model: a statement that looks like one of them and is not understood ends
# this with an error.

function fail(why) {
	print "extract.awk: " FILENAME ":" FNR ": " why ": " $0 >"/dev/stderr"
	failed = 1
	exit 1
}

FNR == 1 { copy = 0; part = "" }

# Macros, with the lines that they go on in
FILENAME ~ /\.h$/ {
	if (/^#define/)
		copy = FILENAME !~ /events\/perf_event\.h$/ ||
			/^#define (__)?[A-Za-z_]*(CONSTRAINT|event_constraint|EVENT_FLAGS|X86_CONFIG)/
	# Include guards are no macros.
	if (copy && !/^#define _ASM/)
		print
	if (copy && !/\\$/)
		copy = 0
	# How a constraint looks, and which events it is of; what an event select consists of
	if (/^(struct event_constraint|union x86_pmu_config) \{/ ||
	    /^static inline bool constraint_match\(/)
		part = "whole"
	if (part == "whole")
		print
	if (/^}/)
		part = ""
	next
}

# Of the P6 its cache events alone
FILENAME ~ /p6\.c$/ && part == "" && !/_hw_cache_event_ids$/ { next }

# Family 15h's: numbers of events, and which counters count them
FILENAME ~ /amd\/core\.c$/ {
	if (/^#define AMD_EVENT_[A-Z_]+/ || /^static struct event_constraint amd_f15_/)
		print
	if (/^static inline unsigned int amd_get_event_code\(/)
		part = "whole"
	if (/^amd_get_event_constraints_f15h\(/) {
		print "static struct event_constraint *"
		part = "whole"
		family_15h++
	}
	if (part == "whole")
		print
	if (/^}/)
		part = ""
	next
}

# For all of x86
FILENAME ~ /events\/core\.c$/ {
	if (FILENAME !~ /intel/) {
		if (match($0, /unlikely\(left < [0-9]+\)/)) {
			print "#define LINUX_LEAST_PERIOD " \
				substr($0, RSTART + 16, RLENGTH - 17)
			least++
		}
		next
	}
}

/^static struct event_constraint intel_[a-z0-9_]*event_constraints\[\]/ && !/pebs/ {
	part = "whole"
	tables++
}

/^static struct extra_reg intel_[a-z0-9_]*extra_regs\[\]/ {
	part = "whole"
	extras++
}

# Events of caches, the values of their registers, and the macros that these are made of
/^static (__initconst const u64|const u64 __initconst) [a-z0-9_]+_hw_cache_(event_ids|extra_regs)$/ {
	part = "whole"
	caches++
}

/^#define [A-Z]+_[A-Z0-9_]+[ \t(]/ && FILENAME ~ /intel\/core\.c$/ { part = "macro" }

part == "macro" {
	print
	if (!/\\$/)
		part = ""
	next
}

/^static (inline )?(bool erratum_|void [a-z0-9]+_limit_period\()/ {
	if (/\(struct perf_event \*event/)
		part = "whole"
}

part == "whole" {
	print
	if (/^}/)
		part = ""
	next
}

/^static .*struct x86_pmu core_pmu = \{/ { part = "version 1" }

part == "version 1" && /\.event_constraints/ {
	gsub(/.*= |,.*/, "")
	print "#define LINUX_VERSION_1 " $0
	version_1++
}

/^static .*void intel_pmu_init_[a-z0-9_]+\(struct pmu \*pmu\)/ {
	match($0, /intel_pmu_init_[a-z0-9_]+/)
	print "static void " substr($0, RSTART, RLENGTH) "(struct linux_model *m)\n{"
	part = "kind"
	kinds++
	next
}

part == "" && /^__init int intel_pmu_init\(void\)/ { part = "init" }

part == "init" && /switch \(boot_cpu_data\.x86_vfm\) \{/ {
	print "static void by_model(u32 vfm, struct linux_model *m)\n{\n\tswitch (vfm) {"
	part = "models"
	next
}

part == "models" || part == "kind" {
	sub(/[ \t]*\/\*.*\*\/$/, "")
	# Up to its end, in one line
	while (/hw_cache_(event_ids|extra_regs)/ && !/;$/) {
		if ((getline rest) <= 0)
			fail("no end")
		sub(/[ \t]*\/\*.*\*\/$/, "", rest)
		sub(/^[ \t]+/, " ", rest)
		$0 = $0 rest
	}
	if (/hw_cache_(event_ids|extra_regs)/) {
		gsub(/hybrid_var\((&pmu->)?pmu, hw_cache_event_ids\)|\yhw_cache_event_ids\y/,
		     "m->cache[m->pmu].event")
		gsub(/hybrid_var\((&pmu->)?pmu, hw_cache_extra_regs\)|\yhw_cache_extra_regs\y/,
		     "m->cache[m->pmu].value")
		print
	} else if (/^}/) {
		print "}"
		part = ""
	} else if (part == "models" && /^\tcase INTEL_[A-Z0-9_]+:$/) {
		print
		match($0, /INTEL_[A-Z0-9_]+/)
		label[++labels] = substr($0, RSTART, RLENGTH)
	} else if (part == "models" && /^\tdefault:$/) {
		print "\tdefault:\n\t\tm->unknown = true;\n\t}\n}"
		part = ""
	} else if (/^\tcase |^\tdefault/) {
		fail("a label")
	} else if (part == "models" && /^\t+(break|fallthrough|goto [a-z_]+);$|^\t[a-z_]+:$/) {
		print
	} else if (/x86_add_quirk\(/) {
		if (!match($0, /^\t+x86_add_quirk\([a-z0-9_]+\);$/))
			fail("a quirk")
		gsub(/.*\(|\).*/, "")
		print "\t\tlinux_add(m, \"" $0 "\");"
	} else if (/^\t+(if \(boot_cpu_data\.x86_vfm == INTEL_[A-Z0-9_]+\)|else)$/) {
		sub(/boot_cpu_data\.x86_vfm/, "vfm")
		condition = $0
		next
	} else if (/\yextra_regs\y/) {
		if (!/^\t+(x86_pmu\.|pmu->|hybrid\(pmu, )extra_regs\)? = intel_[a-z0-9_]+;$/)
			fail("registers of events")
		gsub(/.*= |;.*/, "")
		if (condition)
			print condition
		print "\t\tm->extras[m->pmu] = " $0 ";"
	} else if (/[a-z_.]*pebs_constraints/) {
		next
	} else if (/\yevent_constraints\y/) {
		if (!/^\t+(x86_pmu\.|hybrid\(pmu, )event_constraints\)? = intel_[a-z0-9_]+;$/)
			fail("constraints")
		gsub(/.*= |;.*/, "")
		print "\t\tm->constraints[m->pmu] = " $0 ";"
	} else if (/limit_period/) {
		if (!/^\t+x86_pmu\.limit_period = [a-z0-9_]+;$/)
			fail("a period")
		gsub(/.*= |;.*/, "")
		print "\t\tm->limit_period = " $0 ";"
	} else if (/\.(enable_all|get_event_constraints|commit_scheduling|hw_config) = /) {
		if (!/^\t+x86_pmu\.[a-z_]+ = [a-z0-9_]+;$/)
			fail("a function")
		gsub(/.*= |;.*/, "")
		print "\t\tlinux_add(m, \"" $0 "\");"
	} else if (/hybrid_pmu\[/) {
		if (!match($0, /X86_HYBRID_PMU_[A-Z]+_IDX/))
			fail("a kind of core")
		print "\t\tm->pmu = " substr($0, RSTART, RLENGTH) ";"
	} else if (/^\t+intel_pmu_init_hybrid\(/) {
		print "\t\tm->hybrid = true;"
	} else if (/intel_pmu_init_/) {
		if (!/^\t+intel_pmu_init_[a-z0-9_]+\((NULL|pmu|&pmu->pmu)\);$/)
			fail("a kind of core")
		sub(/\(.*/, "(m);")
		print
	}
	condition = ""
}

END {
	if (failed)
		exit 1
	if (least != 1 || version_1 != 1 || !tables || extras < 10 || caches < 20 || !kinds || labels < 50 ||
	    family_15h != 1) {
		print "extract.awk: found too little: " tables " and " extras + 0 " tables, " caches + 0 \
			" of caches, " kinds " kinds of core, " labels " models" >"/dev/stderr"
		exit 1
	}
	print "const struct linux_label linux_labels[] = {"
	for (i = 1; i <= labels; i++)
		print "\t{ \"" label[i] "\", " label[i] " },"
	print "};\nconst unsigned int linux_nr_labels = " labels ";"
}
