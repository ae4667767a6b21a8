#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: test_examples
#
# Inside an emulated machine: each command that the manual pages have as an example, in a directory
# that has what the command needs, by a user. It must end with 0. What cannot run here is
# in the list of skipped(), with the reason.
examples=/usr/libexec/perfctr/examples known=/usr/libexec/perfctr/known
work=/tmp/examples
rm -rf $work
mkdir -p $work/bin
chmod 777 $work

[ -d /sys/module/perfctr ] || insmod /lib/perfctr.ko || exit

# What is not in the guest, as far as the examples look at it
cat >$work/bin/make <<'END'
#!/bin/sh
# A build of two files, at the same time
sort big.txt >one & sort -r big.txt >two; wait
END
cat >$work/bin/mpirun <<'END'
#!/bin/sh
# mpirun -n N PROGRAM ARGUMENT...
n=$2
shift 2
for rank in $(seq 0 $((n - 1))); do
	OMPI_COMM_WORLD_RANK=$rank "$@" &
	ranks="$ranks $!"
done
for rank in $ranks; do
	wait "$rank" || status=$?
done
exit ${status:-0}
END
chmod 755 $work/bin/*
# Their programs, and what these read
cp $known $work/program
cp $known $work/old
cp ${known}_other $work/new
seq 1 3000 >$work/big.txt
cp $work/big.txt $work/input

# Why a command is not run, or nothing
skipped() { # page command
	case $2 in
	'perfex report'* | 'perfex annotate'*)
		echo 'it needs libdw, which is not in the guest; tests/unit/report runs it' ;;
	'jq '*)
		echo 'there is no jq in the guest' ;;
	*branches*)
		perfex --list | grep -q '^branches  *yes ' ||
			echo 'this processor has no event of that name' ;;
	esac
}

run() { # command
	echo "$1" >$work/command
	chmod 644 $work/command
	su user -c "cd $work && PATH=$work/bin:$PATH sh ./command" >$work/out 2>&1 </dev/null
}

# What is left behind besides the status
left() { # command
	case $1 in
	*'record -g'*) [ -s $work/perfex.rec ] ;;
	*'mpirun -n 4'*) [ "$(cd $work && echo run.*.json)" = 'run.0.json run.1.json run.2.json run.3.json' ] ;;
	'perfex merge'*) grep -q '2,*000,*032' $work/out ;;
	*--plot*) grep -q '</svg>' $work/build.svg && [ -s $work/build.txt ] ;;
	*'out.json'*) grep -q '"count": [1-9]' $work/out.json ;;
	*compare*) grep -q 'instructions' $work/out ;;
	esac
}

if ! perfex -e instructions:u true >$work/out 2>&1; then
	if grep -Eq 'has no counters here|cannot restrict the counter|counts user and kernel mode together' $work/out; then
		echo 'skipped examples: no counter here counts user mode'
		exit 0
	fi
	sed 's/^/# /' $work/out
	echo 'not ok examples: nothing can be counted'
	exit 1
fi
failed=0 passed=0
while IFS='	' read -r page command; do
	why=$(skipped "$page" "$command")
	if [ "$why" ]; then
		echo "skipped examples.$page: $command: $why"
	elif ! run "$command"; then
		sed 's/^/# /' $work/out
		echo "not ok examples.$page: $command"
		failed=1
	elif ! left "$command"; then
		sed 's/^/# /' $work/out
		echo "not ok examples.$page: $command: not what it leaves behind"
		failed=1
	else
		echo "ok examples.$page: $command"
		passed=$((passed + 1))
	fi
done <$examples
[ $passed -ge 5 ] || { echo "not ok examples: only $passed were run"; failed=1; }
exit $failed
