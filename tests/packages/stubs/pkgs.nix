# Of nixpkgs, which needs a network, what packaging/nix uses. A derivation is really built, by
# builder.sh with Debian's tools.
{
  stdenv.mkDerivation = attrs: derivation ((removeAttrs attrs [ "meta" ]) // {
    name = "${attrs.pname}-${attrs.version}";
    system = builtins.currentSystem;
    builder = "/bin/bash";
    args = [ ./builder.sh ];
  }) // { inherit (attrs) meta; };
  pkg-config = "pkg-config";
  elfutils = "elfutils";
  lib.licenses = { gpl2Only = "GPL-2.0-only"; lgpl21Plus = "LGPL-2.1-or-later"; mit = "MIT"; };
}
