# shellcheck shell=sh
# Sourced by what makes something once that takes long, for every checkout: it is kept in the cache,
# as NAME.tar, and unpacked in a directory of the checkout, as the build root sees nothing else.
# Set before: top, the checkout; kept, the file; used, the directory, relative to top.

# Where the cache is: see README.md
cache=${PERFCTR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}${HOME:+/.cache}}}/perfctr

# Unpacks what is kept, if it is not there, and prints where.
kept_use() {
	# So kept_put() knows which are in use.
	touch -c "$kept" 2>/dev/null || :
	[ -d "$top/$used" ] || {
		rm -rf "${top:?}/$used.$$"
		mkdir -p "$top/$used.$$"
		tar -x -f "$kept" -C "$top/$used.$$"
		mv -T "$top/$used.$$" "$top/$used" 2>/dev/null ||
			rm -rf "${top:?}/$used.$$" # another was first
	}
	echo "$used"
}

# Ends the caller with that, if it is kept, or when another run has made it. Else the caller is the one
# that makes it, with the lock NAME on descriptor 9. WAIT is what to say if that has to be waited for.
kept_find() { # NAME [WAIT]
	[ ! -e "$kept" ] || { kept_use; exit; }
	mkdir -p "$cache"
	exec 9>"$cache/$1.lock"
	flock -n 9 || { [ -z "${2-}" ] || echo "perfctr: $2" >&2; flock 9; }
	[ ! -e "$kept" ] || { kept_use; exit; }
}

# Keeps what was made, prints where it is, and forgets those like PATTERN that nothing has used for a
# month.
kept_put() { # FILE PATTERN
	cp "$1" "$kept.tmp"
	rm -f "$1"
	mv "$kept.tmp" "$kept"
	kept_use
	find "$cache" -maxdepth 1 -type f -name "$2" -mtime +30 -delete
}
