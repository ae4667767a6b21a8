#!/bin/sh
# usage: initramfs.sh riscv64|x86_64|i386|arm64|ppc32 HOSTNAME STAGE FILE JOB [ARG...]
#
# Makes FILE, the initramfs of an emulated machine that runs JOB: busybox, the C
# library, two users and what is in the directory STAGE. Runs in the root that
# boots it (machine.sh), for i386 with bookworm's at /other. With GUEST_SHELL, commands to set up a terminal, JOB is followed by
# a shell.
set -eu

arch=$1 hostname=$2 stage=$3 file=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$dir/bin" "$dir/dev" "$dir/etc" "$dir/home/user" \
	"$dir/home/stranger" "$dir/lib" "$dir/proc" "$dir/root" "$dir/sbin" \
	"$dir/sys" "$dir/tmp" "$dir/usr/bin" "$dir/usr/lib" "$dir/usr/sbin"
chmod 755 "$dir"
chmod 700 "$dir/root"

libs=/usr/lib/$arch-linux-gnu
case $arch in
riscv64)
	busybox=/usr/bin/busybox-riscv64
	loader=/lib/ld-linux-riscv64-lp64d.so.1 ;;
x86_64)
	busybox=/usr/bin/busybox
	loader=/lib64/ld-linux-x86-64.so.2 ;;
i386)
	libs=/other$libs
	busybox=/other/usr/bin/busybox-i386
	loader=/lib/ld-linux.so.2 ;;
arm64)
	libs=/usr/lib/aarch64-linux-gnu
	busybox=/usr/bin/busybox-arm64
	loader=/lib/ld-linux-aarch64.so.1 ;;
ppc32)
	libs=/usr/powerpc-linux-gnu/lib
	busybox=/usr/bin/busybox-ppc32
	loader=/lib/ld.so.1 ;;
esac
cp "$busybox" "$dir/bin/busybox"
mkdir -p "$dir${loader%/*}"
cp -L "$libs/${loader##*/}" "$dir$loader"
# perfex loads libpfm4 for names of events; the root has it for its own architecture.
pfm=
[ "$arch" != x86_64 ] || pfm=libpfm.so.4
for lib in libc.so.6 libm.so.6 libgcc_s.so.1 $pfm; do
	cp -L "$libs/$lib" "$dir/lib/"
done

cp "$here/init" "$dir/init"
cp "$here/putfile" "$dir/bin/putfile"
chmod 755 "$dir/init" "$dir/bin/putfile"
echo "$hostname" > "$dir/etc/hostname"
cat > "$dir/etc/passwd" <<-END
	root:x:0:0:root:/root:/bin/sh
	user:x:1000:1000:user:/home/user:/bin/sh
	stranger:x:1001:1001:stranger:/home/stranger:/bin/sh
END
cat > "$dir/etc/group" <<-END
	root:x:0:
	user:x:1000:
	stranger:x:1001:
END

# stage.sh may be making it anew.
[ ! -e "$stage.lock" ] || { exec 9<"$stage.lock"; flock -s 9; }
[ ! -d "$stage" ] || cp -a "$stage/." "$dir/"
[ ! -e "$stage.lock" ] || exec 9<&-

# The job, each word quoted for the guest's shell.
for word; do
	printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
done > "$dir/job"

[ -z "${GUEST_SHELL-}" ] || echo "$GUEST_SHELL" > "$dir/shell"

# Whoever owns the stage here, in the guest root owns everything except the homes.
(cd "$dir" && find . ! -path './home/*' |
	cpio -o -H newc -R 0:0 --quiet
for user in user:1000 stranger:1001; do
	echo "./home/${user%:*}" |
		cpio -o -H newc -R "${user#*:}:${user#*:}" --quiet
done) > "$file"
