#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Counts in the namespaces of a container. User mode is counted as anywhere else. But the root of a
# user namespace has no privilege, so a counter of kernel mode is refused.
cd "$(dirname "$0")/../cookbook" || exit
unshare --user --map-root-user --pid --fork ./function
unshare --user --map-root-user --pid --fork ./misses branches
unshare --user --map-root-user --pid --fork ./misses branches:uk && exit 1
exit 0
