#!/bin/sh
# usage: machine.sh
#
# Makes the root file system of a Debian 13 machine with systemd, once, and prints its path: what a
# user has who has installed a small one, and nothing of perfctr. What its apt-get will be asked for is
# in its archive already (machine-fetch.sh), so it needs no network.
set -eu

cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}}/perfctr
die() { echo "perfctr: $*" >&2; exit 1; }
case $cache in
[!/]*) die "the cache must be named by a path that begins with /, but it is '$cache'" ;;
esac

# What perfctr's packages need and recommend
later="dkms linux-headers-amd64 libdw1t64 libpfm4 python3-cffi-backend openssl mokutil podman runc slurm-wlm munge environment-modules"
# What boots it with Secure Boot, for debian.sh and boot.sh
boots="ovmf shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed mtools"

here=$(cd "$(dirname "$0")" && pwd)
fits=$(arch=x86_64 bash -c '. "$1" && echo "$BUILD_EXCLUSIVE_KERNEL"' dkms.conf "$here/../../dkms.conf" 2>/dev/null)
[ "$fits" ] || die "dkms.conf does not say for which kernels the module is"
# Backports get newer kernels each month.
machine=$cache/machine-$({ echo "$fits" && date +%Y-%m && cat "$0" "$here/machine-fetch.sh"; } |
	sha256sum | cut -c1-16)
[ ! -d "$machine" ] || {
	touch -c "$machine"
	echo "$machine"
	exit
}
[ "$(id -u)" = 0 ] || die "tests of packages need root"
command -v mmdebstrap >/dev/null || die "tests of packages need mmdebstrap: make check installs it"
mkdir -p "$cache"
exec 9>"$cache/machine.lock"
flock 9
[ ! -d "$machine" ] || { echo "$machine"; exit; }

echo "perfctr: making a Debian machine in $cache: once, some minutes, 2 GB" >&2
# shellcheck disable=SC2016 # apt-get expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
tmp=$machine.tmp
rm -rf --one-file-system "$tmp"
trap 'rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck disable=SC2086,SC2016 # words; $1 is mmdebstrap's
unshare --mount mmdebstrap --mode=root --variant=apt --architectures=amd64 \
	--include="systemd-sysv,udev,dbus,linux-image-amd64,initramfs-tools,kmod,login,passwd,procps,man-db,apt-utils" \
	--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' \
	--skip=cleanup/apt \
	--customize-hook="echo deb $mirror trixie-backports main >\"\$1/etc/apt/sources.list.d/backports.list\"" \
	--customize-hook="copy-in $here/machine-fetch.sh /tmp" \
	--customize-hook="chroot \"\$1\" /tmp/machine-fetch.sh '$fits' $later $boots" \
	--customize-hook='echo perfctr-test >"$1/etc/hostname"; chroot "$1" useradd -m user' \
	trixie "$tmp" "$mirror" >&2 || die "the machine could not be made"

cat >"$tmp/usr/local/sbin/job" <<'EOF'
#!/bin/sh
# The second disk is an archive with the job; the lines with @@ are for console.py.
mkdir -p /job
tar -xf /dev/disk/by-id/*job -C /job
cd /job
echo @@start@@
sh ./run
status=$?
echo
echo @@exit $status@@
systemctl poweroff
EOF
chmod +x "$tmp/usr/local/sbin/job"
cat >"$tmp/etc/systemd/system/job.service" <<'EOF'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
Environment=HOME=/root LC_ALL=C.UTF-8
ExecStart=/usr/local/sbin/job
EOF
mkdir -p "$tmp/etc/systemd/system/multi-user.target.wants"
ln -s ../job.service "$tmp/etc/systemd/system/multi-user.target.wants"
ln -sf /dev/null "$tmp/etc/systemd/system/serial-getty@ttyS0.service"
mv -T "$tmp" "$machine"
find "$cache" -maxdepth 1 -type d -name 'machine-*' -mtime +30 -exec rm -rf --one-file-system {} +
echo "$machine"
