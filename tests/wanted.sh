# shellcheck shell=sh
# Sourced by scripts that run checks by name. Set before: only, the names that are wanted, or their
# beginnings, or "all".
is_wanted() { # name
	# shellcheck disable=SC2154 # the script's
	for wanted in $only; do
		case $wanted in all) return 0 ;; esac
		case $1 in "$wanted"*) return 0 ;; esac
	done
	return 1
}
