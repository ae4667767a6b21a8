#!/bin/sh
# usage: commits.sh [--gather]
#
# Whether the messages of commits are as CONTRIBUTING.md says: of those that the upstream branch does
# not have, or of the last 20 if it has all, but of none that is older than this script. With
# COMMITS_SINCE=REVISION of all since that one. First it tries whether it refuses what is wrong. It ends
# with 77 if there are no messages to look at. --gather only writes them to build/lint/commits, for lint.sh:
# the build root need not have git.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd -P)
dir=build/lint/commits

# Writes each message to a file of its name, or to "none" why there are none.
gather() {
	rm -rf $dir
	mkdir -p $dir
	if ! found=$(git rev-parse --show-toplevel 2>&1) || [ "$found" != "$top" ]; then
		echo "this is no git checkout, so there are no messages to look at" >$dir/none
		return
	fi
	if [ "$(git rev-parse --is-shallow-repository)" != false ]; then
		echo "this git checkout is a shallow one, without the messages before it" >$dir/none
		return
	fi
	if [ "${COMMITS_SINCE-}" ]; then
		git rev-list --no-merges "$COMMITS_SINCE..HEAD" >$dir/list
	else
		first=$(git log --diff-filter=A --format=%H -- tests/commits.sh | tail -n 1)
		range="${first:+$first^..}HEAD"
		git rev-list --no-merges "$range" --not '@{upstream}' >$dir/list 2>/dev/null || :
		[ -s $dir/list ] || git rev-list --no-merges -n 20 "$range" >$dir/list
	fi
	[ -s $dir/list ] || echo "there are no commits since ${COMMITS_SINCE-}" >$dir/none
	while read -r commit; do
		git log -1 --format=%B "$commit" >"$dir/$(git rev-parse --short "$commit")"
	done <$dir/list
	rm $dir/list
}

if [ -z "${INROOT-}" ]; then
	cd "$top"
	gather
	[ "${1-}" != --gather ] || exit 0
	exec "$here/machines/inroot" "/src/tests/${0##*/}"
fi
cd /src

# What is wrong with a message, one reason a line
reasons() { # file
	awk '
	function wrong(text) { if (!(text in told)) print text; told[text] }
	NR == 1 {
		if (length($0) > 80)
			wrong("the first line has more than 80 characters")
		if (/^(fixup|squash|amend)!/)
			wrong("it is to become a part of another commit")
		else if (!/^[A-Za-z0-9_.\/,+ -]+: [^ ]/)
			wrong("the first line is not \"part: what is different\"")
	}
	NR == 2 && /[^ \t]/ { wrong("the second line is not empty") }
	NR > 2 && /[^ \t]/ && !/^[A-Z][A-Za-z-]+-[Bb]y: / { body++ }
	length($0) > 110 && NR > 1 { wrong("a line has more than 110 characters") }
	/[ \t]$/ { wrong("a line ends with a blank") }
	/(^|[^A-Za-z0-9_.~-])\/(w|work|root|home)\// { wrong("it names a path of somebody'\''s machine") }
	END {
		if (!body)
			wrong("there is no cause, effect and remedy behind the first line")
	}' "$1"
	# Its limit of 75 columns is not ours.
	{
		echo 'From: somebody <somebody@example.org>'
		sed '1s/^/Subject: [PATCH] /' "$1"
		echo ---
	} >/tmp/patch
	perl /opt/checkpatch.pl --no-tree --terse --no-summary --types \
		TYPO_SPELLING,REPEATED_WORD,BAD_SIGN_OFF,COMMIT_COMMENT_SYMBOL,DIFF_IN_COMMIT_MSG,CVS_KEYWORD \
		/tmp/patch 2>&1 | sed 's/^[^:]*:[0-9]*: //' || :
}

bad=0

# The one reason there is, or none
must_say() { # reason message
	printf '%b\n' "$2" >/tmp/message
	reasons /tmp/message >/tmp/reasons
	case $(cat /tmp/reasons) in
	*"
"*) ;;
	'') [ "$1" ] || return 0 ;;
	"$1"*) [ -z "$1" ] || return 0 ;;
	esac
	echo "commits.sh: '$1' should be said of:"
	cat /tmp/message
	echo "but this is: $(cat /tmp/reasons)"
	bad=1
}

eighty="lib: $(printf '%075d' 0)"
must_say '' 'lib, tests/unit: names are found\n\nThey were lost.'
must_say '' "$eighty\n\nIt was.\n\nSigned-off-by: Some Body <some@example.org>"
must_say 'the first line has more than 80' "${eighty}9\n\nIt was."
must_say 'the first line is not "part:' 'names are found\n\nThey were lost.'
must_say 'the first line is not "part:' 'lib:names are found\n\nThey were lost.'
must_say 'it is to become' 'fixup! lib: names are found\n\nThey were lost.'
must_say 'the second line is not empty' 'lib: names are found\nas before\n\nThey were lost.'
must_say 'there is no cause' 'lib: names are found'
must_say 'there is no cause' 'lib: names are found\n\nSigned-off-by: Some Body <some@example.org>'
must_say 'a line has more than 110' "lib: names are found\n\n$eighty, and $eighty."
must_say 'a line ends with a blank' 'lib: names are found\n\nThey were lost. '
must_say 'a line ends with a blank' 'lib: names are found \n\nThey were lost.'
# These are somebody's at the beginning of a path only.
for begin in w work root home; do
	must_say 'it names a path' "lib: names are found\n\nIn /$begin/x/file they were lost."
	must_say '' "lib: names of /proc/$begin/x are found\n\nIn src/$begin/ and ./$begin/ they were lost."
done
must_say 'WARNING: Possible repeated word' 'lib: names are found\n\nThey were were lost.'
must_say "WARNING: 'recieve' may be misspelled" 'lib: names are found\n\nWe recieve none.'
must_say 'WARNING: Commit log lines starting with' 'lib: names are found\n\n# They were lost.'
must_say 'WARNING: Do not use whitespace before' 'lib: names\n\nLost.\n\n Signed-off-by: A B <a@example.org>'

if [ -e $dir/none ]; then
	[ $bad = 0 ] || exit 1
	cat $dir/none
	exit 77
fi
for message in "$dir"/*; do
	reasons "$message" >/tmp/reasons
	[ ! -s /tmp/reasons ] || {
		sed "s|^|${message##*/} ($(sed 1q "$message")): |" /tmp/reasons
		bad=1
	}
done
exit $bad
