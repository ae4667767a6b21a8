SUMMARY = "Exact hardware performance counters of threads: library, and perfex"
PERFCTR_URL ?= ""
HOMEPAGE = "${PERFCTR_URL}"
LICENSE = "GPL-2.0-only & LGPL-2.1-or-later & MIT"
LIC_FILES_CHKSUM = " \
    file://tools/perfex/Makefile;beginline=1;endline=1;md5=daad6f7f7a0a286391cd7773ccf79340 \
    file://lib/Makefile;beginline=1;endline=1;md5=79979fc1adb97b4b451c15517900ae0b \
    file://lib/events/LICENSE.libpfm4;md5=ef693889fd407c8bc39269a2df23158b \
"

# In the directory files beside this recipe
SRC_URI = "file://perfctr-${PV}.tar.xz"
S = "${UNPACKDIR}/perfctr-${PV}"
COMPATIBLE_HOST = "(x86_64|i.86|aarch64|riscv64|powerpc)-.*-linux.*"

DEPENDS = "elfutils"
inherit pkgconfig

# The next compiler may warn of more, which must not end the build.
EXTRA_OEMAKE = "PREFIX=${prefix} BINDIR=${bindir} LIBDIR=${libdir} INCLUDEDIR=${includedir} \
    LIBEXECDIR=${libexecdir} WARNINGS=-Wall"

do_compile() {
	oe_runmake
}

do_install() {
	oe_runmake DESTDIR=${D} install
	install -D -m 644 ${S}/packaging/udev/60-perfctr.rules \
		${D}${nonarch_base_libdir}/udev/rules.d/60-perfctr.rules
}

FILES:${PN} += "${datadir}/bash-completion ${datadir}/zsh"
RRECOMMENDS:${PN} = "kernel-module-perfctr"
