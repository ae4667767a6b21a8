################################################################################
#
# perfctr
#
################################################################################

PERFCTR_VERSION = 7.0.0
PERFCTR_SOURCE = perfctr-$(PERFCTR_VERSION).tar.xz
PERFCTR_SITE = file://$(TOPDIR)/package/perfctr
PERFCTR_LICENSE = GPL-2.0 (module, perfex), LGPL-2.1+ (library), MIT (tables of events), GPL-2.0 with Linux-syscall-note (linux/perfctr.h)
PERFCTR_LICENSE_FILES = README.md lib/events/LICENSE.libpfm4
PERFCTR_INSTALL_STAGING = YES
PERFCTR_MODULE_SUBDIRS = module
PERFCTR_DEPENDENCIES = host-pkgconf $(if $(BR2_PACKAGE_ELFUTILS),elfutils)

# The next compiler may warn of more, which must not end the build.
PERFCTR_RUN_MAKE = $(TARGET_MAKE_ENV) $(TARGET_CONFIGURE_OPTS) $(MAKE) -C $(@D) PREFIX=/usr WARNINGS=-Wall

# The module needs TRACEPOINTS and PREEMPT_NOTIFIERS. Nobody can set these two; other options select them:
# tracers the one, KVM the other, on x86 only with KVM_INTEL or KVM_AMD.
define PERFCTR_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_PERF_EVENTS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_FTRACE)
	$(call KCONFIG_ENABLE_OPT,CONFIG_ENABLE_DEFAULT_TRACERS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_VIRTUALIZATION)
	$(call KCONFIG_ENABLE_OPT,CONFIG_KVM)
	$(if $(BR2_i386)$(BR2_x86_64),$(call KCONFIG_ENABLE_OPT,CONFIG_KVM_INTEL))
endef

define PERFCTR_BUILD_CMDS
	$(PERFCTR_RUN_MAKE)
endef

define PERFCTR_INSTALL_STAGING_CMDS
	$(PERFCTR_RUN_MAKE) DESTDIR=$(STAGING_DIR) install
endef

define PERFCTR_INSTALL_TARGET_CMDS
	$(PERFCTR_RUN_MAKE) DESTDIR=$(TARGET_DIR) install
	$(INSTALL) -D -m 644 $(@D)/packaging/udev/60-perfctr.rules \
		$(TARGET_DIR)/usr/lib/udev/rules.d/60-perfctr.rules
endef

define PERFCTR_INSTALL_INIT_SYSTEMD
	$(INSTALL) -D -m 644 $(@D)/packaging/modules-load/perfctr.conf \
		$(TARGET_DIR)/usr/lib/modules-load.d/perfctr.conf
endef

$(eval $(kernel-module))
$(eval $(generic-package))
