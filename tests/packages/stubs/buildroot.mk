# Of Buildroot what package/perfctr/perfctr.mk uses, and the commands of its infrastructures for a package and
# for modules, for riscv64 with Debian's compiler and headers. make -f buildroot.mk LINUX_DIR= TOPDIR= BUILD_DIR= TARGET_DIR= STAGING_DIR=
INSTALL = install
TARGET_MAKE_ENV = PATH=$(PATH)
TARGET_CONFIGURE_OPTS = CC=riscv64-linux-gnu-gcc AR=riscv64-linux-gnu-ar CFLAGS=-O2
LINUX_MAKE_FLAGS = ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- INSTALL_MOD_PATH=$(TARGET_DIR) DEPMOD=true
BR2_PACKAGE_ELFUTILS = y
KCONFIG_ENABLE_OPT = @echo $(1)

pkgdir = $(dir $(lastword $(MAKEFILE_LIST)))
pkgname = $(lastword $(subst /, ,$(pkgdir)))
UPPERCASE = $(shell echo $(1) | tr a-z- A-Z_)
P = $(call UPPERCASE,$(pkgname))

define kernel-module
P := $(P)
$(P)_MAKE ?= $$(MAKE)
$(P)_MODULE_SUBDIRS ?= .
endef

module = $($(P)_MAKE) -C $(LINUX_DIR) $(LINUX_MAKE_FLAGS) PWD=$(@D)/$(PERFCTR_MODULE_SUBDIRS) M=$(@D)/$(PERFCTR_MODULE_SUBDIRS)

define generic-package
D := $(BUILD_DIR)/$(pkgname)-$($(P)_VERSION)
endef

include $(TOPDIR)/package/perfctr/perfctr.mk

# What is not known is misspelt.
known := VERSION SOURCE SITE LICENSE LICENSE_FILES INSTALL_STAGING MODULE_SUBDIRS DEPENDENCIES MAKE RUN_MAKE \
	LINUX_CONFIG_FIXUPS BUILD_CMDS INSTALL_STAGING_CMDS INSTALL_TARGET_CMDS INSTALL_INIT_SYSTEMD
unknown := $(filter-out $(known:%=PERFCTR_%),$(filter PERFCTR_%,$(.VARIABLES)))
$(if $(unknown),$(error perfctr.mk sets $(unknown)))

all: $(D)/.stamp_installed

$(D)/.stamp_extracted:
	mkdir -p $(@D)
	tar -xf $(PERFCTR_SITE:file://%=%)/$(PERFCTR_SOURCE) -C $(@D) --strip-components=1
	cd $(@D) && ls $(PERFCTR_LICENSE_FILES)

$(D)/.stamp_built: $(D)/.stamp_extracted
	$(PERFCTR_BUILD_CMDS)
	$(module) modules

$(D)/.stamp_installed: $(D)/.stamp_built
	$(if $(filter YES,$(PERFCTR_INSTALL_STAGING)),$(PERFCTR_INSTALL_STAGING_CMDS))
	$(PERFCTR_INSTALL_TARGET_CMDS)
	$(PERFCTR_INSTALL_INIT_SYSTEMD)
	$(module) modules_install

fixups:
	$(PERFCTR_LINUX_CONFIG_FIXUPS)
