# shellcheck shell=bash
# The phases of nixpkgs' stdenv: unpack, build, install
# shellcheck disable=SC2154,SC2086,SC2164 # set by Nix; words; -e
set -e
export PATH=/usr/bin:/bin:/usr/sbin:/sbin
tar -xf "$src"
cd "${sourceRoot:-perfctr-$version}"
make -j2 $makeFlags ${buildFlags-}
make $makeFlags ${installTargets:-install}
eval "${postInstall-}"
