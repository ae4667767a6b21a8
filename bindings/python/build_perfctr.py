# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Makes the extension module with the installed libperfctr.h. As a program it takes the directories of
the header and of the library as arguments:

    build_perfctr.py OUT INCLUDE... -- LIBDIR
"""
import sys

from cffi import FFI

ffi = FFI()

# The compiler fills in the length of the array.
ffi.cdef("""
struct perfctr_sum_ctrs {
    unsigned long long tsc;
    unsigned long long pmc[...];
};
struct vperfctr_meter;
#define VPERFCTR_METER_NET ...

int vperfctr_meter_open(struct vperfctr_meter **meter, const char *events, unsigned int flags);
int vperfctr_meter_open_budget(struct vperfctr_meter **meter, const char *event,
                               unsigned long long n, int signo);
void vperfctr_meter_close(struct vperfctr_meter *meter);
int vperfctr_meter_stop(struct vperfctr_meter *meter);
int vperfctr_meter_start(struct vperfctr_meter *meter);
int vperfctr_meter_read(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *sum);
unsigned int vperfctr_meter_events(const struct vperfctr_meter *meter);
const char *vperfctr_meter_name(const struct vperfctr_meter *meter, unsigned int i);
double vperfctr_meter_seconds(const struct vperfctr_meter *meter, unsigned long long ticks);
const char *vperfctr_strerror(const struct vperfctr_meter *meter, int err);
""")


def source(include_dirs=(), library_dirs=()):
    ffi.set_source("perfctr._perfctr", "#include <libperfctr.h>", libraries=["perfctr"],
                   include_dirs=list(include_dirs), library_dirs=list(library_dirs))


if __name__ == "__main__":
    out, *rest = sys.argv[1:]
    between = rest.index("--")
    source(rest[:between], rest[between + 1:])
    ffi.compile(tmpdir=out, verbose=False)
else:
    source()
