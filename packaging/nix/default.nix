# nix-build packaging/nix -A perfctr: the library and perfex. For NixOS, with `perfctr` for this file's value:
#   boot.extraModulePackages = [ (perfctr.module config.boot.kernelPackages.kernel) ];
#   boot.kernelModules = [ "perfctr" ];
#   services.udev.packages = [ perfctr.perfctr ];
{ pkgs ? import <nixpkgs> { }
, version ? "7.0.0"
, src ? ../../build/archive + "/perfctr-${version}.tar.xz"
, url ? ""
}:
let
  meta = licenses: {
    description = "Exact hardware performance counters of threads";
    homepage = url;
    license = licenses;
    platforms = [ "x86_64-linux" "i686-linux" "aarch64-linux" "riscv64-linux" "powerpc-linux" ];
  };
in
{
  perfctr = pkgs.stdenv.mkDerivation {
    pname = "perfctr";
    inherit version src;
    nativeBuildInputs = [ pkgs.pkg-config ];
    buildInputs = [ pkgs.elfutils ];
    enableParallelBuilding = true;
    # The next compiler may warn of more, which must not end the build.
    makeFlags = [ "PREFIX=$(out)" "WARNINGS=-Wall" ];
    postInstall = ''
      install -D -m 644 -t $out/lib/udev/rules.d packaging/udev/60-perfctr.rules
    '';
    meta = meta (with pkgs.lib.licenses; [ gpl2Only lgpl21Plus mit ]);
  };

  module = kernel: pkgs.stdenv.mkDerivation {
    pname = "perfctr-module";
    version = "${version}-${kernel.version}";
    inherit src;
    sourceRoot = "perfctr-${version}/module";
    nativeBuildInputs = kernel.moduleBuildDependencies;
    hardeningDisable = [ "pic" ];
    enableParallelBuilding = true;
    makeFlags = (kernel.commonMakeFlags or [ ]) ++ [
      "KDIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build"
      "INSTALL_MOD_PATH=$(out)"
    ];
    buildFlags = [ "modules" ];
    installTargets = [ "modules_install" ];
    meta = meta pkgs.lib.licenses.gpl2Only;
  };
}
