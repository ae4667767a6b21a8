#!/bin/sh
# Runs inside a build root that is being made, if it has a compiler for 32-bit PowerPC: adds
# a static busybox and libcheck for that, as Debian has no packages of this architecture. They
# are built from Debian's source packages. The compiler finds libcheck beside the C library.
set -eu

gnu=powerpc-linux-gnu
[ -x /usr/bin/$gnu-gcc ] || exit 0

dir=$(mktemp -d)
cd "$dir"
quiet() { "$@" >>log 2>&1 || { tail -n 40 log >&2; exit 1; }; }
jobs=-j$(nproc)

# So that apt does not complain about its own unprivileged user.
export APT_CONFIG=/tmp/apt.conf
echo 'APT::Sandbox::User "root";' >$APT_CONFIG
list=/etc/apt/sources.list.d/source.list
sed 's/^deb /deb-src /' /etc/apt/sources.list >$list
quiet apt-get -q update
quiet apt-get -qy source busybox check
rm $list

# With Debian's options for busybox-static. This make insists on asking what those leave
# open, so each time the answer is the default.
mkdir b
cp busybox-*/debian/config/pkg/static b/.config
busybox=$(echo "$PWD"/busybox-*/)
bb() { quiet make -C b ARCH=powerpc CROSS_COMPILE=$gnu- "$@"; }
yes '' | bb -f "$busybox/Makefile" KBUILD_SRC="$busybox" silentoldconfig
bb "$jobs" all
cp b/busybox /usr/bin/busybox-ppc32

# What configure would have to execute a program for, the GNU C library has.
cd check-*/
quiet ./configure --host=$gnu --disable-shared --disable-subunit CFLAGS=-O2 \
	ac_cv_func_malloc_0_nonnull=yes ac_cv_func_realloc_0_nonnull=yes \
	hw_cv_func_snprintf_c99=yes hw_cv_func_vsnprintf_c99=yes
quiet make "$jobs" -C lib
quiet make "$jobs" -C src libcheck.la
cp src/.libs/libcheck.a /usr/$gnu/lib
cp src/check.h check_stdint.h /usr/$gnu/include

cd /
rm -rf "$dir"
