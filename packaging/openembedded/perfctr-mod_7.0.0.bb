SUMMARY = "Exact hardware performance counters of threads: the kernel module"
PERFCTR_URL ?= ""
HOMEPAGE = "${PERFCTR_URL}"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://module/Makefile;beginline=1;endline=1;md5=daad6f7f7a0a286391cd7773ccf79340"

# In the directory files beside this recipe
SRC_URI = "file://perfctr-${PV}.tar.xz"
S = "${UNPACKDIR}/perfctr-${PV}"
B = "${S}/module"
COMPATIBLE_HOST = "(x86_64|i.86|aarch64|riscv64|powerpc)-.*-linux.*"

inherit module
EXTRA_OEMAKE += "KDIR=${STAGING_KERNEL_DIR}"
KERNEL_MODULE_AUTOLOAD += "perfctr"
