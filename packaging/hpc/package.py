# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spack's package: library, perfex and manual pages. The kernel's module is the administrator's."""
from spack.package import *


class Perfctr(MakefilePackage):
    """Exact hardware performance counters of each thread, without privilege"""

    # Whoever publishes an archive of `make dist` writes here where, and its sha256.
    homepage = ""
    url = ""
    license("GPL-2.0-only AND LGPL-2.1-or-later")
    version("7.0.0")

    variant("report", default=True, description="perfex report and annotate")
    variant("libpfm4", default=True, description="names of events of the processor's manual")
    depends_on("c", type="build")
    depends_on("gawk", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils", when="+report")
    depends_on("libpfm4", when="+libpfm4")

    def build(self, spec, prefix):
        make(f"PREFIX={prefix}", "WARNINGS=-Wall")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}", "WARNINGS=-Wall")
