# For a person: `make help` says what there is.

M ?= riscv64-6.12
O ?= $(CURDIR)/build/native
PREFIX ?= /usr/local
SEND_TO ?=
# Nothing if make was told of this file in another directory (make -f)
VERSION := $(shell sed -n '/^PACKAGE_NAME="perfctr"/,$$s/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf 2>/dev/null)
ifneq ($(words $(VERSION)),1)
$(error make must be run in the directory of perfctr's own Makefile: make -C DIRECTORY)
endif

include common.mk
override O := $(if $(filter x/%,$(firstword x$(O))),,$(if $(O),$(CURDIR)/))$(O)
$(call absolute,DESTDIR)
$(call absolute,PREFIX)
$(call plain,PREFIX)

# For recipes: DESTDIR may have blanks.
dkms := "$$DESTDIR/usr/src/perfctr-$(VERSION)"
man := "$$DESTDIR"$(PREFIX)/share/man

export PREFIX DESTDIR SEND_TO

all: lib perfex perfex-report

# packaging/README.md has those for packages.
help:
	@echo 'make                     library and perfex for this machine; make install, make uninstall'
	@echo 'make install-dkms        the module, for dkms; make uninstall-dkms'
	@echo 'make deb                 packages for Debian, in build/deb'
	@echo 'make dist [TAG=vVERSION] the archive of a release, tried, in build/dist'
	@echo 'make demo                a real program under real counters, in an emulated machine'
	@echo 'make check               the tests that notice most: 6 minutes, 10 the first time'
	@echo 'make check-all           what every change must pass: an hour the first time, then 24'
	@echo 'make check-debug         what is slow and rarely fails: hours, as does make check-packages'
	@echo 'make lint [SINCE=REV]    the checks that only read; of what has changed since REV'
	@echo 'make machine-shell M=icelake    a shell in an emulated machine'
	@echo 'make bench               perfctr beside perf_events'

lib: check-paths
	$(MAKE) -C lib O=$(O)/lib

perfex: lib
	$(MAKE) -C tools/perfex O=$(O)/perfex LIBDIR=$(O)/lib

perfex-report: check-paths
	$(MAKE) -C tools/perfex-report O=$(O)/perfex-report

# By default the checkout's directory is a part of O.
check-paths:
	$(call one_path,O)

install: all
	$(MAKE) -C lib O=$(O)/lib install
	$(MAKE) -C tools/perfex O=$(O)/perfex LIBDIR=$(O)/lib install
	$(MAKE) -C tools/perfex-report O=$(O)/perfex-report install
	for page in docs/man/*.[1-8]; do \
		$(INSTALL) -D -m 644 $$page $(man)/man$${page##*.}/$${page##*/} || exit; \
	done
	# man NAME of each function finds its page.
	umask 022; for page in docs/man/*.3; do \
		page=$${page##*/}; \
		sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' docs/man/$$page | \
			while read -r name; do \
				[ $$name.3 = $$page ] || echo ".so man3/$$page" \
					>$(man)/man3/$$name.3 || exit; \
			done || exit; \
	done

# What is installed is asked of install itself. Directories that others use too stay.
uninstall: check-paths
	installed=$$(mktemp -d) && trap 'rm -rf "$$installed"' EXIT && \
	$(MAKE) install DESTDIR="$$installed" && \
	cd "$$installed" && \
	find . ! -type d | while read -r file; do \
		rm -f "$$DESTDIR/$$file" || exit; \
	done && \
	find . -depth -type d -name 'perf*' | while read -r dir; do \
		[ ! -d "$$DESTDIR/$$dir" ] || \
			rmdir --ignore-fail-on-non-empty "$$DESTDIR/$$dir" || exit; \
	done

# What dkms has built of an older copy with this version goes, for all kernels: dkms would keep it.
forget_dkms = [ -n "$$DESTDIR" ] || ! command -v dkms >/dev/null || \
	! dkms status perfctr/$(VERSION) | grep -q . || dkms remove perfctr/$(VERSION) --all

# A new copy, without files that an older version had. What others put beside it stays.
remove_dkms = rm -rf $(dkms)/dkms.conf $(dkms)/module $(dkms)/include

install-dkms:
	$(forget_dkms)
	$(remove_dkms)
	$(INSTALL) -d $(dkms)
	cp -R dkms.conf module include $(dkms)
	chmod -R u=rwX,go=rX $(dkms)/dkms.conf $(dkms)/module $(dkms)/include

uninstall-dkms:
	$(forget_dkms)
	$(remove_dkms)
	[ ! -d $(dkms) ] || rmdir --ignore-fail-on-non-empty $(dkms)

# A release: packaging/README.md. TAG=vVERSION; else it is of HEAD, and its name says so.
dist:
	packaging/dist.sh $(TAG)

# What packages are made of: HEAD, by the name that a release would have. Times in it are the commit's.
archive:
	@git rev-parse -q --verify HEAD >/dev/null || \
		{ echo "perfctr: make archive needs a git checkout" >&2; exit 1; }
	mkdir -p build/archive
	git -c tar.umask=0022 archive --prefix=perfctr-$(VERSION)/ HEAD >build/archive/perfctr-$(VERSION).tar
	xz -f -T1 build/archive/perfctr-$(VERSION).tar

# Debian's tools and our makefiles would be told of the checkout's directory.
check-checkout:
	$(call plain,CURDIR)

deb: check-checkout archive
	@packaging/lacks.sh
	rm -rf build/deb
	mkdir -p build/deb
	cp build/archive/perfctr-$(VERSION).tar.xz build/deb/perfctr_$(VERSION).orig.tar.xz
	tar -C build/deb -xf build/archive/perfctr-$(VERSION).tar.xz
	cp -R build/deb/perfctr-$(VERSION)/packaging/debian build/deb/perfctr-$(VERSION)/debian
	cd build/deb/perfctr-$(VERSION) && dpkg-buildpackage --unsigned-source --unsigned-changes
	rm -rf build/deb/perfctr-$(VERSION)

demo:
	tests/machines/demo.sh

check:
	tests/check.sh check

check-all:
	tests/check.sh all

check-debug:
	tests/check.sh debug

# The first two make what the others go on from.
check-packages:
	tests/check.sh packages-make packages-dist
	tests/check.sh packages-install
	tests/check.sh $(addprefix packages-,upgrades secure-boot containers slurm others) dkms

bench:
	bench/run.sh

# All of it takes long; of what has changed since a revision, half a minute.
lint:
	SINCE="$(SINCE)" tests/lint.sh $(if $(SINCE),quick)

machines:
	tests/machines/all.sh

machine-shell:
	tests/machines/stage.sh "$(M)"
	tests/machines/boot.sh "$(M)" --shell welcome

clean:
	rm -rf build

.PHONY: all help check-paths check-checkout lib perfex perfex-report install install-dkms uninstall uninstall-dkms dist archive deb demo check check-all check-debug check-packages bench lint machines machine-shell clean
