# Targets for a person, on a Debian 12 or 13 host as root or with sudo:
#
#	make demo		a real program under real counters
#	make check		the tests that every change must pass
#	make check-debug	the module in kernels that check themselves, under stress and faults,
#				and what else is slow and rarely fails
#	make check-packages	packages, made, installed, upgraded and removed in machines with systemd,
#				and what dkms does with the module
#	make bench [KEEP=1]	perfctr beside perf_events, and beside the figures that were kept
#	make lint		the checks that only read
#	make machines		every emulated machine, with all that runs there
#	make machine-shell M=riscv64-6.12
#
# For the machine that it stands on, with that machine's compiler:
#
#	make && make install [DESTDIR= PREFIX= LIBDIR=]	library, perfex, man pages; perfex
#				report and annotate where there is libdw (Debian: libdw-dev)
#	make install-dkms [DESTDIR=]			the module's sources, for dkms
#	make uninstall [DESTDIR= PREFIX= LIBDIR=]	removes what make install has put there
#	make uninstall-dkms [DESTDIR=]			the module, built for all kernels, and its sources
#
# For those who make releases and packages:
#
#	make all install REPORT_TO=ADDRESS		perfex --report says to send its text there
#	make dist		what HEAD has, as build/dist/perfctr-VERSION.tar.xz: the same bytes each time
#	make deb		Debian's packages of that, in build/deb, with this Debian's tools

M ?= riscv64-6.12
O ?= $(CURDIR)/build/native
PREFIX ?= /usr/local
REPORT_TO ?=
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
dkms := $(DESTDIR)/usr/src/perfctr-$(VERSION)

export PREFIX DESTDIR REPORT_TO

all: lib perfex perfex-report

lib:
	$(MAKE) -C lib O=$(O)/lib

perfex: lib
	$(MAKE) -C tools/perfex O=$(O)/perfex LIBDIR=$(O)/lib

perfex-report:
	$(MAKE) -C tools/perfex-report O=$(O)/perfex-report

install: all
	$(MAKE) -C lib O=$(O)/lib install
	$(MAKE) -C tools/perfex O=$(O)/perfex LIBDIR=$(O)/lib install
	$(MAKE) -C tools/perfex-report O=$(O)/perfex-report install
	for page in docs/man/*.[1-8]; do \
		install -D -m 644 $$page \
			$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit; \
	done
	# man NAME of each function finds its page.
	for page in docs/man/*.3; do \
		page=$${page##*/}; \
		sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' docs/man/$$page | \
			while read -r name; do \
				[ $$name.3 = $$page ] || echo ".so man3/$$page" \
					>$(DESTDIR)$(PREFIX)/share/man/man3/$$name.3 || exit; \
			done || exit; \
	done

# What is installed is asked of install itself. Directories that others use too stay.
uninstall:
	rm -rf $(O)/installed
	$(MAKE) install DESTDIR=$(O)/installed
	cd $(O)/installed && find . ! -type d | while read -r file; do \
		rm -f "$(DESTDIR)/$$file" || exit; \
	done
	cd $(O)/installed && find . -depth -type d -name 'perf*' | while read -r dir; do \
		[ ! -d "$(DESTDIR)/$$dir" ] || \
			rmdir --ignore-fail-on-non-empty "$(DESTDIR)/$$dir" || exit; \
	done
	rm -rf $(O)/installed

# What dkms has built of an older copy with this version goes, for all kernels: dkms would keep it.
forget_dkms = [ -n "$(DESTDIR)" ] || ! command -v dkms >/dev/null || \
	! dkms status perfctr/$(VERSION) | grep -q . || dkms remove perfctr/$(VERSION) --all

# A new copy, without files that an older version had.
install-dkms:
	$(forget_dkms)
	rm -rf $(dkms)
	mkdir -p $(dkms)
	cp -R dkms.conf module include $(dkms)

uninstall-dkms:
	$(forget_dkms)
	rm -rf $(dkms)

# Times and owners in it are the commit's.
dist:
	@git rev-parse -q --verify HEAD >/dev/null || \
		{ echo "perfctr: make dist needs a git checkout" >&2; exit 1; }
	mkdir -p build/dist
	git archive --prefix=perfctr-$(VERSION)/ HEAD >build/dist/perfctr-$(VERSION).tar
	xz -f -T1 build/dist/perfctr-$(VERSION).tar

# dpkg-buildpackage says which packages it lacks.
deb: dist
	@command -v dpkg-buildpackage >/dev/null || \
		{ echo "perfctr: make deb needs Debian's dpkg-dev" >&2; exit 1; }
	rm -rf build/deb
	mkdir -p build/deb
	cp build/dist/perfctr-$(VERSION).tar.xz build/deb/perfctr_$(VERSION).orig.tar.xz
	tar -C build/deb -xf build/dist/perfctr-$(VERSION).tar.xz
	cp -R build/deb/perfctr-$(VERSION)/packaging/debian build/deb/perfctr-$(VERSION)/debian
	cd build/deb/perfctr-$(VERSION) && dpkg-buildpackage --unsigned-source --unsigned-changes
	rm -rf build/deb/perfctr-$(VERSION)

demo:
	tests/machines/demo.sh

check:
	tests/check.sh

check-debug:
	tests/check.sh stress-riscv64-6.12-4500000 stress-icelake-4500000 \
		stress-riscv64-debug-250000 stress-icelake-debug-250000 \
		stress-icelake-kcsan-500000 mpi \
		$(addprefix debug-riscv64-debug-,suite stress faults) \
		$(addprefix debug-icelake-debug-,suite stress faults) \
		$(addprefix debug-icelake-kcsan-,suite stress) \
		$(addprefix debug-riscv64-rt-,suite stress) \
		$(addprefix debug-skylake-rt-,suite stress) \
		$(addprefix full-guest-,riscv64-6.12-smp2 riscv64-testing-smp2 icelake-testing skylake-6.1) \
		$(addprefix full-guest-,zen4-smp2 7450 7400 p5mmx c3 p4m3-smp2) guest-hybrid-smp2 guest-skylake-rt-smp2 \
		$(addprefix guest-,p5 mii winchip2 pentiumm) \
		$(addprefix guest-,$(addsuffix -smp2,pentium3 riscv64-smcntrpmf core icelake-topdown)) \
		$(addprefix guest-,$(addsuffix -smp2,sapphirerapids k8 fam10h fam15h zen2)) \
		guest-k7 $(addprefix guest-zen4-,testing-smp2 6.1-smp2) kvm-fam10h kvm-zen2 kvm-zen4 \
		$(addprefix guest-,604 604e 750 7400 7450-plain 7457) \
		$(addprefix debug-7450-debug-,suite stress faults) shared-7450 \
		shared-skylake $(addprefix full-shared-,arm64-6.12-smp2 icelake-smp2) \
		shared-guest-riscv64-6.12-smp2 \
		$(addprefix tracepoint-guest-,riscv64-6.12-smp2 icelake-smp2) \
		$(addprefix tracepoint-stress-,riscv64-6.12-1000000 icelake-1000000) \
		$(addprefix tracepoint-stress-,riscv64-debug-60000 icelake-debug-60000) \
		tracepoint-stress-icelake-kcsan-200000 \
		$(addprefix shared-stress-,riscv64-6.12-1000000 icelake-1000000) \
		tracepoint-shared-stress-riscv64-debug-60000 \
		tracepoint-shared-stress-icelake-kcsan-200000 \
		tracepoint-debug-riscv64-debug-faults \
		$(addprefix tracepoint-shared-debug-,riscv64-debug-faults icelake-debug-faults) \
		$(addprefix isolated-,riscv64-6.12 skylake) \
		guest-riscv64-6.12 processors vices noise switches asan full-fuzz-report lint-all kernels

# The first two make what the others go on from.
check-packages:
	tests/check.sh packages-make
	tests/check.sh packages-install
	tests/check.sh $(addprefix packages-,upgrades secure-boot containers slurm others) dkms

bench:
	bench/run.sh

lint:
	tests/lint.sh

machines:
	tests/machines/all.sh

machine-shell:
	tests/machines/stage.sh $(M)
	tests/machines/boot.sh $(M) --shell welcome

clean:
	rm -rf build

.PHONY: all lib perfex perfex-report install install-dkms uninstall uninstall-dkms dist deb demo check check-debug check-packages bench lint machines machine-shell clean
