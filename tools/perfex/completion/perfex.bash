# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion for bash. tests/unit/test_options.c compares the lists with the table of options.

# Completes the current word by the words of $1, or by files if $1 is "file".
_perfex_words()
{
	local word

	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("$word")
	done < <(if [[ $1 = file ]]; then compgen -f -- "$cur"; else compgen -W "$1" -- "$cur"; fi)
}

# Completes the last event of a list with commas.
_perfex_events()
{
	local before=

	[[ $cur = *,* ]] && before=${cur%,*},
	cur=${cur##*,}
	_perfex_words "$(perfex --list 2>/dev/null | sed -n '2,/^$/s/ .*//p')"
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

# Completes the value of option $1.
_perfex_value()
{
	case $1 in
	-e | --event) _perfex_events ;;
	-o | --output | --plot | -i | --input | --svg | --symfs | --kallsyms | --dso) _perfex_words file ;;
	-p | --pid) _perfex_words "$(cd /proc && echo [1-9]*)" ;;
	-C | --cpu) _perfex_words "$(cat /sys/devices/system/cpu/online 2>/dev/null)" ;;
	--source) _perfex_words 'native shared any' ;;
	--by) _perfex_words 'comm dso symbol' ;;
	esac
}

# Completes perfex report and perfex annotate, which take no program.
_perfex_report()
{
	local report annotate word=${COMP_WORDS[COMP_CWORD - 1]}

	# shellcheck disable=SC2034 # Both lists are used by their names.
	report='-i --input -s --sort --by --children --no-inline --limit --json --folded --svg --symfs
		--kallsyms --debuginfod -h --help'
	# shellcheck disable=SC2034
	annotate='-i --input -s --sort --symfs --dso --debuginfod -h --help'

	[[ $word = '=' ]] && word=${COMP_WORDS[COMP_CWORD - 2]}
	case $word in
	# Events and numbers cannot be completed.
	-s | --sort | --limit) ;;
	-i | --input | --by | --svg | --symfs | --kallsyms | --dso)
		[[ $cur = '=' ]] && cur=
		_perfex_value "$word" ;;
	*)
		[[ $cur != -* ]] || _perfex_words "${!1}" ;;
	esac
}

# shellcheck disable=SC2034 # The lists are used by their names.
_perfex()
{
	local run record compare merge selftest
	local commands='record compare merge report annotate selftest'
	local cur=${COMP_WORDS[COMP_CWORD]} options command=run i=1 word

	run='-e --event --topdown -p --pid -a --all-cpus -C --cpu --per-cpu --no-idle -o --output
		--json --csv --input --self --per-thread -I --interval --plot -r --repeat -w --warm-up --raw-csr
		--source --exact --passes -i --info -l --list -h --help -V --version'
	record='-e --event -p --pid -F --frequency -c --period -g --chains -m --pages -o --output
		--source -h --help'
	compare='-e --event --topdown -o --output --json --csv --input --self -r --repeat -w --warm-up
		--source --exact -h --help'
	merge='-o --output --json --csv -h --help'
	selftest='-o --output --overflows --watch --hotplug --sleep -h --help'

	COMPREPLY=()
	case ${COMP_WORDS[1]} in
	record | compare | merge | selftest)
		((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} i=2 ;;
	report | annotate)
		((COMP_CWORD > 1)) && { _perfex_report "${COMP_WORDS[1]}"; return; } ;;
	esac
	options=${!command}

	# Find where the program begins, up to the current word.
	for (( ; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--) i=$((i + 1)) && break ;;
		# readline divides --json=x into three words.
		-e | --event | -p | --pid | -C | --cpu | -o | --output | -I | --interval | --plot | --input | \
			-r | --repeat | -w | --warm-up | --source | --overflows | --watch | \
			-F | --frequency | -c | --period | -m | --pages)
			i=$((i + 1))
			[[ ${COMP_WORDS[i]} = '=' ]] && ((i < COMP_CWORD)) && i=$((i + 1))
			((i < COMP_CWORD)) && continue
			[[ $cur = '=' ]] && cur=
			_perfex_value "$word"
			return ;;
		-*) ;;
		*) break ;;
		esac
	done
	if [[ $command = selftest && $cur != -* ]]; then
		:
	elif [[ $command = merge && $cur != -* ]]; then
		_perfex_words file
	elif ((i >= COMP_CWORD)) && [[ $cur = -* && ${COMP_WORDS[COMP_CWORD - 1]} != -- ]]; then
		_perfex_words "$options"
	elif ((i >= COMP_CWORD)); then
		((COMP_CWORD > 1)) && commands=
		_perfex_words "$commands $(compgen -c -- "$cur")"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	else
		_perfex_words file
	fi
}

complete -o filenames -F _perfex perfex
