#!/bin/sh
# usage: tidy.sh TARGET FILE
#
# In the build root, from the top: clang-tidy on one source, as for TARGET. What was found good
# before, with the same headers, options and clang-tidy, is not read again: build/lint/tidy-good
# has the hash of all of these, one in a line. Those that are good now go to build/lint/tidy-seen.
# TIDY_VERSION is what clang-tidy --version says.
set -eu

target=$1 file=$2

# clang-tidy takes the options from the nearest of these.
options=$(dirname "$file")
while [ ! -e "$options/compile_flags.txt" ]; do
	options=$(dirname "$options")
done

hash() {
	echo "$TIDY_VERSION $target $file"
	# shellcheck disable=SC2046,SC2086 # words
	(cd "$options" && clang-19 "--target=$target" $(cat compile_flags.txt) -M -MG "/src/$file" |
		sed 's/^[^ ]*: / /; s/\\$//' | tr -s ' ' '\n' | grep . | sort -u |
		xargs sha256sum /src/.clang-tidy "/src/$options/compile_flags.txt")
}

# A file of which that cannot be said is read each time.
seen=$(hash) && seen=$(echo "$seen" | sha256sum | cut -c1-64) || seen=none
if grep -qxF "$seen" build/lint/tidy-good 2>/dev/null; then
	echo "$seen" >>build/lint/tidy-seen
	exit
fi
found=$(clang-tidy --quiet "--extra-arg=--target=$target" "$file" 2>&1 |
	grep -v 'warnings generated\|^Suppressed\|^Use -header-filter') || :
[ -z "$found" ] || { echo "$found"; exit 1; }
[ "$seen" = none ] || echo "$seen" >>build/lint/tidy-seen
