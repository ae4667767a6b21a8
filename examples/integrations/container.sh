#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a container's namespaces are to counters: user mode is counted as anywhere else, but the root of a
# user namespace has no privilege, so its kernel mode is refused.
cd "$(dirname "$0")/../cookbook" || exit
unshare --user --map-root-user --pid --fork ./function
unshare --user --map-root-user --pid --fork ./misses branches
unshare --user --map-root-user --pid --fork ./misses branches:uk && exit 1
exit 0
