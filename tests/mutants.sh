#!/bin/sh
# usage: mutants.sh [WORD]...
#
# Plants each fault that tests/mutants lists, one at a time in a copy of the sources, and runs the part that must
# fail: all faults, or those whose file, meaning or part has a WORD in it. Prints `ok` with the tests that
# noticed it, or `not ok` if it survives; and first runs each part without a fault, which must pass.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/mutants.py" "$@"
