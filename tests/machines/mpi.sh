#!/bin/sh
# usage: mpi.sh
#
# perfex under Open MPI, and perfex merge: tests/guest/suites/test_mpi.sh on icelake, whose stage has
# what openmpi.sh gives as well.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"

openmpi=$(tests/machines/openmpi.sh)
tests/machines/stage.sh icelake
stage=build/stage/icelake-mpi
rm -rf $stage
cp -R build/stage/icelake $stage
cp -R "$openmpi/." $stage
exec tests/machines/boot.sh icelake --icount --smp 2 --mem 1024 --stage /src/$stage --timeout 300 \
	/usr/bin/run-tests mpi
