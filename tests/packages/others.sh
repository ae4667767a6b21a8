#!/bin/sh
# usage: others.sh [CHECK...]
#
# Builds the packages for distributions other than Debian, from that of `make archive`, by
# these distributions' tools as far as Debian has them, in a throw-away build root. What Debian
# has not is in stubs/. CHECK is the name of a check, or its beginning; those of a distribution need
# what the first of them built.
set -u

# What the root needs beside what it has
packages='rpm rpmlint makepkg pacman-package-manager libarchive-tools fakeroot nix-bin
	python3-kconfiglib libdw-dev:riscv64 file'

here=$(cd "$(dirname "$0")" && pwd)
die() { echo "others.sh: $*" >&2; exit 1; }
if [ -z "${INROOT-}" ]; then
	make -s -C "$here/../.." archive || exit
	exec "$here/../machines/inroot" -r full -w "/src/tests/packages/${0##*/}" "$@"
fi
cd /src || exit

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
archive=/src/build/archive/perfctr-$version.tar.xz
[ -e "$archive" ] || die "there is no $archive: make archive"
rm -rf /tmp/archive && mkdir /tmp/archive && tar -xf "$archive" -C /tmp/archive || exit
source=/tmp/archive/perfctr-$version
diff -r packaging "$source/packaging" >/dev/null ||
	die "packaging/ is not as in $archive: commit, and make archive"

missing=$(for p in $packages; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
# shellcheck disable=SC2086 # words
[ -z "$missing" ] || { apt-get update && DEBIAN_FRONTEND=noninteractive \
	apt-get install -y --no-install-recommends $missing; } >/tmp/apt.log 2>&1 ||
	die "apt-get could not install these:" $missing

kernel=$(readlink /usr/src/headers-amd64)
kernel=${kernel#linux-headers-}
stubs=/src/tests/packages/stubs
PATH=$stubs:$PATH

# shellcheck source=tests/wanted.sh
. tests/wanted.sh
passed=0 failed=0
check() { # name command...
	name=$1
	shift
	is_wanted "$name" || return 0
	(set -e; "$@") >"/tmp/$name.log" 2>&1
	# In a condition it would have no set -e.
	status=$?
	if [ $status = 0 ]; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "/tmp/$name.log" | tail -n 60
		echo "not ok $name: $(tail -n 1 "/tmp/$name.log" | grep . || echo "status $status")"
	fi
}

same() { # what expected got
	[ "$2" = "$3" ] && return
	echo "$2" | sort >/tmp/expected
	echo "$3" | sort >/tmp/got
	diff -u /tmp/expected /tmp/got || :
	echo "$1: not as expected"
	return 1
}

files() { (cd "$1" && find . ! -type d | sed 's/^\.//' | sort); }

# What `make install` and the udev rule are, in the directories of most
userland() { # LIBDIR LIBEXECDIR
	[ -e /tmp/reference ] || {
		cp -R "$source" /tmp/reference.source
		make -s -j2 -C /tmp/reference.source WARNINGS=-Wall
		make -s -C /tmp/reference.source WARNINGS=-Wall PREFIX=/usr DESTDIR=/tmp/reference install
	} >/tmp/reference.log 2>&1 || { cat /tmp/reference.log; exit 1; }
	{ files /tmp/reference; echo /usr/lib/udev/rules.d/60-perfctr.rules; } |
		sed "s,^/usr/lib/\(libperfctr\|pkgconfig\),$1/\1,; s,^/usr/libexec/,$2/," | sort
}

# Its version, and where it looks for perfex-report
perfex_says() { # directory LIBEXECDIR [library directory]
	same "perfex --version" "perfex $version" "$("$1/usr/bin/perfex" --version)"
	grep -qF "$2/perfex" "$1/usr/bin/perfex" || { echo "perfex does not look into $2"; return 1; }
}

# --- RPM

# Debian's rpm has no debugedit, and no macros of Python.
python=$(python3 -c 'import sys; print("/usr/lib64/python%d.%d/site-packages" % sys.version_info[:2])')
rpm_build() { # directory rpmbuild's words...
	top=$1
	shift
	mkdir -p "$top/SOURCES" "$top/SPECS"
	cp "$archive" "$top/SOURCES"
	cp packaging/rpm/*.spec "$top/SPECS"
	rpmbuild --nodeps --define "_topdir $top" --define "debug_package %{nil}" \
		--define "python3_sitearch $python" "$@"
}

rpm_userland() {
	rpm_build /tmp/rpm -ba /tmp/rpm/SPECS/perfctr.spec
	same "source package" "perfctr-$version.tar.xz
perfctr.spec" "$(rpm -qlp /tmp/rpm/SRPMS/perfctr-"$version"-1.src.rpm | sort)"
}

rpm_of() { # name
	echo "/tmp/rpm/RPMS/x86_64/$1-$version-1.x86_64.rpm"
}

rpm_files() {
	same perfctr-tools "/usr/bin/perfex
/usr/lib/modules-load.d/perfctr.conf
/usr/lib/udev/rules.d/60-perfctr.rules
/usr/libexec/perfex
/usr/libexec/perfex/perfex-report
/usr/share/bash-completion/completions/perfex
/usr/share/doc/perfctr-tools-$version
/usr/share/doc/perfctr-tools-$version/CHANGELOG.md
/usr/share/doc/perfctr-tools-$version/README.md
/usr/share/man/man1/perfex-report.1.gz
/usr/share/man/man1/perfex.1.gz
/usr/share/man/man4/perfctr.4.gz
/usr/share/zsh/site-functions/_perfex" "$(rpm -qlp "$(rpm_of perfctr-tools)" | sort)"
	same libperfctr "/usr/lib64/libperfctr.so.${version%%.*}
/usr/lib64/libperfctr.so.$version
/usr/share/licenses/libperfctr-$version
/usr/share/licenses/libperfctr-$version/LICENSE.libpfm4" "$(rpm -qlp "$(rpm_of libperfctr)" | sort)"
	same python3-perfctr "$python/perfctr
$python/perfctr-$version.dist-info
$python/perfctr-$version.dist-info/METADATA
$python/perfctr-$version.dist-info/RECORD
$python/perfctr-$version.dist-info/WHEEL
$python/perfctr-$version.dist-info/top_level.txt
$python/perfctr/__init__.py
$python/perfctr/_perfctr.abi3.so" "$(rpm -qlp "$(rpm_of python3-perfctr)" | sort)"
	same libperfctr-devel "$(userland /usr/lib64 /usr/libexec | sed '
		s,/man3/.*,&.gz,
		\,^/usr/include/,p; \,^/usr/share/man/man3/,p; \,/libperfctr\.so$,p; \,/pkgconfig/,p; d')" \
		"$(rpm -qlp "$(rpm_of libperfctr-devel)" | sort)"
	# kmodtool makes the module's packages require this.
	rpm -qp --provides "$(rpm_of perfctr-tools)" | grep -x "perfctr-kmod-common = $version"
	rpm -qp --requires "$(rpm_of python3-perfctr)" | grep "^libperfctr.so.${version%%.*}()"
}

# Installed, used, and removed without a trace
rpm_install() {
	to=/tmp/rpm/root
	mkdir -p $to
	rpm --root $to --initdb
	before=$(files $to | sed '\,/rpm/,d')
	rpm --root $to --nodeps --noscripts -i /tmp/rpm/RPMS/x86_64/*perfctr*"$version-1.x86_64.rpm"
	perfex_says $to /usr/libexec
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$to$python LD_LIBRARY_PATH=$to/usr/lib64 python3 -c '
import perfctr
try:
    perfctr.Meter("instructions")
except OSError as e:
    print("without the module:", e)'
	# shellcheck disable=SC2046 # words
	cc -o /tmp/rpm/first examples/first.c $(PKG_CONFIG_LIBDIR=$to/usr/lib64/pkgconfig \
		PKG_CONFIG_SYSROOT_DIR=$to pkg-config --define-variable=libdir=/usr/lib64 \
		--cflags --libs libperfctr)
	readelf -d /tmp/rpm/first | grep -F "[libperfctr.so.${version%%.*}]"
	rpm --root $to -V --nodeps --noscripts perfctr-tools libperfctr libperfctr-devel python3-perfctr
	rpm --root $to --nodeps --noscripts -e perfctr-tools libperfctr libperfctr-devel python3-perfctr
	same "what is left" "$before" "$(files $to | sed '\,/rpm/,d')"
}

module_is() { # directory file [release]
	same "files of the module" "$2" "$(files "$1")"
	case $2 in
	*.xz) xz -dc "$1$2" >/tmp/module.ko ;;
	*) cp "$1$2" /tmp/module.ko ;;
	esac
	same "its version" "$version" "$(modinfo -F version /tmp/module.ko)"
	same "its kernel" "${3-$kernel}" "$(modinfo -F vermagic /tmp/module.ko | cut -d ' ' -f 1)"
}

unpack_rpm() { # directory package
	mkdir -p "$1"
	(cd "$1" && rpm2cpio "$2" | bsdtar -xf -)
}

# As akmods: the package has a source package, which is built for the kernel that is there.
rpm_akmod() {
	rpm_build /tmp/akmod -bb /tmp/akmod/SPECS/perfctr-kmod.spec
	package=/tmp/akmod/RPMS/x86_64/akmod-perfctr-$version-1.x86_64.rpm
	rpm -qp --requires "$package" | grep -x "perfctr-kmod-common >= $version"
	unpack_rpm /tmp/akmod/unpacked "$package"
	same akmod-perfctr "/usr/src/akmods/perfctr-kmod-$version-1.src.rpm" "$(files /tmp/akmod/unpacked)"
	rpmbuild --nodeps --define "_topdir /tmp/akmod/rebuild" --define "kernels $kernel" \
		--rebuild "/tmp/akmod/unpacked/usr/src/akmods/perfctr-kmod-$version-1.src.rpm"
	unpack_rpm /tmp/akmod/module /tmp/akmod/rebuild/RPMS/x86_64/kmod-perfctr-*-"$version"-1.x86_64.rpm
	module_is /tmp/akmod/module "/lib/modules/$kernel/extra/perfctr/perfctr.ko"
}

rpm_kmp() {
	rpm_build /tmp/kmp --define "stub_kernel $kernel" --load "$stubs/macros.kmp" \
		-ba /tmp/kmp/SPECS/perfctr-kmp.spec
	unpack_rpm /tmp/kmp/module "/tmp/kmp/RPMS/x86_64/kmod-perfctr-$version-1.x86_64.rpm"
	module_is /tmp/kmp/module "/lib/modules/$kernel/extra/perfctr/perfctr.ko"
}

refuses() { # sentence spec rpmbuild's words...
	sentence=$1 spec=$2
	shift 2
	if rpm_build /tmp/refuse "$@" -bb "/tmp/refuse/SPECS/$spec" >/tmp/refuse.log 2>&1; then
		echo "$spec is built"
		return 1
	fi
	grep -x "$sentence" /tmp/refuse.log || { cat /tmp/refuse.log; echo "$spec has no sentence"; return 1; }
}

# Without their macros neither makes packages with nothing in them.
rpm_refusals() {
	(
		PATH=${PATH#"$stubs:"}
		refuses "perfctr-kmod.spec needs kmodtool" perfctr-kmod.spec
		refuses "perfctr-kmp.spec needs kernel-rpm-macros" perfctr-kmp.spec
	)
	refuses "kmodtool error: no 1.2.3" perfctr-kmod.spec --define "kernels 1.2.3"
	same "packages in spite of that" "" "$(find /tmp/refuse -name '*.rpm')"
}

# Debian's rpmlint has the rules of no distribution.
rpm_lint() {
	for rule in no-buildroot-tag no-%check-section no-url-tag invalid-url invalid-license \
		mixed-use-of-spaces-and-tabs hardcoded-library-path lib-package-without-%mklibname; do
		echo "addFilter(\"$rule\")"
	done >/tmp/rpmlintrc
	rpmlint --ignore-unused-rpmlintrc -r /tmp/rpmlintrc packaging/rpm/*.spec
	rpmlint --ignore-unused-rpmlintrc -r /tmp/rpmlintrc packaging/rpm/*.spec |
		grep ' 3 specfiles checked; 0 errors, 0 warnings'
}

# --- Arch

# makepkg does not build as root.
arch_build() {
	id packager >/dev/null 2>&1 || useradd -m packager
	mkdir -p /tmp/arch
	cp "$archive" packaging/arch/PKGBUILD /tmp/arch
	chown -R packager /tmp/arch
	setpriv --reuid packager --regid packager --clear-groups env -C /tmp/arch HOME=/tmp/arch \
		MAKEFLAGS=-j2 makepkg --nodeps
	cd /tmp/arch
	to=/tmp/arch/root
	mkdir -p $to/var/lib/pacman
	# Without CheckSpace, which needs /etc/mtab
	echo '[options]' >pacman.conf
	same packages "perfctr perfctr-dkms" "$(cd /tmp/arch/pkg && echo *)"
	pacman --config pacman.conf --root $to --dbpath $to/var/lib/pacman --noconfirm -Udd \
		perfctr-"$version"-1-x86_64.pkg.tar.gz perfctr-dkms-"$version"-1-any.pkg.tar.gz
}

arch_files() {
	owned() {
		pacman --config /tmp/arch/pacman.conf --root /tmp/arch/root \
			--dbpath /tmp/arch/root/var/lib/pacman -Qlq "$1" |
			sed 's,^/tmp/arch/root,,' | grep -v '/$' | sort
	}
	same perfctr "$(userland /usr/lib /usr/lib | sed '
		s,/man[0-9]/.*,&.gz,; \,/udev/,s,.*,/usr/share/licenses/perfctr/LICENSE.libpfm4,' | sort)" \
		"$(owned perfctr)"
	same perfctr-dkms "$({ find dkms.conf module include -type f | sed "s,^,/usr/src/perfctr-$version/,"
		echo /usr/lib/udev/rules.d/60-perfctr.rules
		echo /usr/lib/modules-load.d/perfctr.conf; } | sort)" "$(owned perfctr-dkms)"
	perfex_says /tmp/arch/root /usr/lib
}

# --- Nix

nix_of() { # attribute
	echo "let p = import ./packaging/nix { pkgs = import $stubs/pkgs.nix; };
		kernel = { version = \"1\"; modDirVersion = \"$kernel\"; dev = \"\"; moduleBuildDependencies = [ ]; };
		in $1"
}

nix_parse() {
	nix-instantiate --parse packaging/nix/default.nix
	same licences '["GPL-2.0-only","LGPL-2.1-or-later","MIT","GPL-2.0-only"]' \
		"$(nix-instantiate --eval --strict --json -E "$(nix_of '
			p.perfctr.meta.license ++ [ (p.module kernel).meta.license ]')")"
	same names '["perfctr-'"$version"'","perfctr-module-'"$version"'-1"]' \
		"$(nix-instantiate --eval --strict --json -E "$(nix_of '[ p.perfctr.name (p.module kernel).name ]')")"
}

nix_make() { # attribute
	nix-build --no-out-link --option build-users-group '' --option sandbox false -E "$(nix_of "$1")"
}

nix_userland() {
	out=$(nix_make p.perfctr)
	same perfctr "$(userland /usr/lib /usr/libexec | sed 's,^/usr,,')" "$(files "$out")"
	mkdir -p /tmp/nix
	ln -s "$out" /tmp/nix/usr
	perfex_says /tmp/nix "$out/libexec"
	grep -x "prefix=$out" "$out/lib/pkgconfig/libperfctr.pc"
}

nix_module() {
	out=$(nix_make '(p.module kernel)')
	module_is "$out" "$(cd "$out" && find /tmp/none . -name 'perfctr.ko*' 2>/dev/null | sed 's/^\.//')"
	files "$out" | grep "^/lib/modules/$kernel/updates/perfctr\.ko"
}

# --- OpenEmbedded, by its reader in stubs, for riscv64

riscv=$(readlink /usr/src/headers-riscv64)
riscv=${riscv#linux-headers-}
is_riscv() { # file...
	for f in "$@"; do
		readelf -h "$f" | grep -q 'Machine: *RISC-V' || { echo "$f is not for RISC-V"; return 1; }
	done
}

recipe() { # recipe NAME...
	recipe=packaging/openembedded/$1_$version.bb
	shift
	python3 $stubs/bb.py "$recipe" UNPACKDIR=/tmp/oe/unpack D=/tmp/oe/image B=/tmp/oe/unpack/perfctr-"$version" \
		prefix=/usr bindir=/usr/bin libdir=/usr/lib includedir=/usr/include libexecdir=/usr/libexec \
		datadir=/usr/share nonarch_base_libdir=/usr/lib STAGING_KERNEL_DIR="${riscv_source-}" EXTRA_OEMAKE= \
		-- S B SRC_URI "$@" >/tmp/oe/recipe
	# shellcheck disable=SC1091 # just made
	. /tmp/oe/recipe
	mkdir -p "${S%/*}"
	same SRC_URI "file://${archive##*/}" "$SRC_URI"
	same S "/tmp/oe/unpack/perfctr-$version" "$S"
	cd "$B"
}

oe_runmake() {
	# shellcheck disable=SC2086 # words
	make -j2 $EXTRA_OEMAKE "$@"
}

oe_start() {
	rm -rf /tmp/oe
	mkdir -p /tmp/oe/unpack
	tar -xf "$archive" -C /tmp/oe/unpack
	export CC=riscv64-linux-gnu-gcc AR=riscv64-linux-gnu-ar CFLAGS=-O2
}

oe_userland() {
	oe_start
	# shellcheck disable=SC2016 # so it is called
	recipe perfctr EXTRA_OEMAKE 'FILES:${PN}'
	do_compile
	do_install
	image=/tmp/oe/image
	same perfctr "$(userland /usr/lib /usr/libexec)" "$(files $image)"
	is_riscv $image/usr/bin/perfex $image/usr/libexec/perfex/perfex-report $image/usr/lib/libperfctr.so
	# What bitbake.conf has for the packages perfctr, -dev, -staticdev and -doc, and what the recipe adds
	left=$(files $image | grep -vE '^/usr/(bin|libexec|include|share/man|lib/udev|lib/pkgconfig)/' |
		grep -vE '^/usr/lib/lib[^/]*\.(so|so\..*|a)$' || :)
	for f in $FILES; do
		left=$(echo "$left" | grep -v "^$f/" || :)
	done
	same "files that are in no package" "" "$left"
}

# The commands of module.bbclass
oe_module() {
	oe_start
	riscv_source=/usr/src/linux-headers-${riscv%-riscv64}-common
	recipe perfctr-mod EXTRA_OEMAKE KERNEL_MODULE_AUTOLOAD
	# shellcheck disable=SC2154 # by the recipe
	same class module "$inherited"
	same "loaded at boot" perfctr "${KERNEL_MODULE_AUTOLOAD# }"
	unset CC AR CFLAGS
	export ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-
	EXTRA_OEMAKE="KERNEL_SRC=$riscv_source $EXTRA_OEMAKE"
	oe_runmake O="/usr/src/linux-headers-$riscv" KERNEL_PATH="$riscv_source" KERNEL_VERSION="$riscv"
	oe_runmake O="/usr/src/linux-headers-$riscv" DEPMOD=echo \
		MODLIB="/tmp/oe/image/lib/modules/$riscv" modules_install
	[ -e Module.symvers ]
	ko=$(cd /tmp/oe/image && find . -name 'perfctr.ko*')
	module_is /tmp/oe/image "${ko#.}" "$riscv"
	is_riscv /tmp/module.ko
}

# --- Buildroot, by its infrastructures in stubs, for riscv64

br_config() {
	cat >/tmp/Kconfig <<-'EOF'
		config BR2_RISCV_64
			bool "RISC-V"
		config BR2_arc
			bool "ARC"
		config BR2_aarch64
			bool
		config BR2_i386
			bool
		config BR2_x86_64
			bool
		config BR2_powerpc
			bool
		config BR2_LINUX_KERNEL
			bool "kernel"
		config BR2_TOOLCHAIN_HAS_THREADS
			bool "threads"
		config BR2_STATIC_LIBS
			bool "static"
		source "packaging/buildroot/Config.in"
	EOF
	python3 - <<-'EOF'
		import itertools
		import kconfiglib
		k = kconfiglib.Kconfig("/tmp/Kconfig", warn_to_stderr=False)
		if k.warnings:
		    raise SystemExit("\n".join(k.warnings))
		needs = {"BR2_RISCV_64": 2, "BR2_LINUX_KERNEL": 2, "BR2_TOOLCHAIN_HAS_THREADS": 2, "BR2_STATIC_LIBS": 0}
		symbol = k.syms["BR2_PACKAGE_PERFCTR"]
		comment, = (n for n in k.node_iter() if n.item == kconfiglib.COMMENT)
		for values in itertools.product((0, 2), repeat=len(needs)):
		    for name, value in zip(needs, values):
		        k.syms[name].set_value(value)
		    wanted = list(values) == list(needs.values())
		    hint = values[0] == 2 and not wanted
		    if (symbol.visibility == 2) != wanted or (kconfiglib.expr_value(comment.dep) == 2) != hint:
		        raise SystemExit(f"wrong for {dict(zip(needs, values))}")
		print(symbol)
	EOF
}

br_make() {
	mkdir -p /tmp/br/top/package
	cp -R packaging/buildroot /tmp/br/top/package/perfctr
	cp "$archive" /tmp/br/top/package/perfctr
	make -j2 -f $stubs/buildroot.mk TOPDIR=/tmp/br/top BUILD_DIR=/tmp/br/build TARGET_DIR=/tmp/br/target \
		STAGING_DIR=/tmp/br/staging LINUX_DIR=/usr/src/headers-riscv64 "$@"
}

br_build() {
	br_make
	same staging "$(userland /usr/lib /usr/libexec | grep -v /udev/)" "$(files /tmp/br/staging)"
	same target "$({ userland /usr/lib /usr/libexec; echo /usr/lib/modules-load.d/perfctr.conf; } | sort)" \
		"$(files /tmp/br/target | grep -v '^/lib/modules')"
	is_riscv /tmp/br/target/usr/bin/perfex /tmp/br/target/usr/libexec/perfex/perfex-report \
		/tmp/br/target/usr/lib/libperfctr.so
	rm -r /tmp/br/target/usr
	ko=$(cd /tmp/br/target && find . -name 'perfctr.ko*')
	module_is /tmp/br/target "${ko#.}" "$riscv"
	is_riscv /tmp/module.ko
	same "options of the kernel" "CONFIG_PERF_EVENTS
CONFIG_FTRACE
CONFIG_ENABLE_DEFAULT_TRACERS
CONFIG_VIRTUALIZATION
CONFIG_KVM" "$(br_make -s fixups)"
	same "options of the kernel on x86" CONFIG_KVM_INTEL "$(br_make -s BR2_x86_64=y fixups | tail -n 1)"
}

only=${*:-all}
check rpm_userland rpm_userland
check rpm_files rpm_files
check rpm_install rpm_install
check rpm_akmod rpm_akmod
check rpm_kmp rpm_kmp
check rpm_refusals rpm_refusals
check rpm_lint rpm_lint
check arch_build arch_build
check arch_files arch_files
check nix_parse nix_parse
check nix_userland nix_userland
check nix_module nix_module
check oe_userland oe_userland
check oe_module oe_module
check br_config br_config
check br_build br_build

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
