#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: test_mpi
#
# Inside an emulated machine that has Open MPI (tests/machines/mpi.sh): each rank is counted by a
# perfex of its own, into a file of its own, and perfex merge puts these into one table.
known=/usr/libexec/perfctr/known other=/usr/libexec/perfctr/known_other
a=2000032	# instructions of known
work=/tmp/mpi
mpirun="mpirun --oversubscribe --bind-to none -n 4"
perfex="perfex -e instructions:u --json -o $work/%q{OMPI_COMM_WORLD_RANK}.json --"

insmod /lib/perfctr.ko || exit
ip link set lo up || ifconfig lo up
mkdir -m 777 $work

# As nobody special, whom mpirun wants
as_user() {
	su user -c "cd $work && export HOME=/tmp TMPDIR=/tmp && $1" >$work/out 2>$work/err
}

result() { # name status
	if [ "$2" = 0 ]; then
		echo "ok mpi.$1"
	else
		cat $work/out $work/err
		echo "not ok mpi.$1"
	fi
}

# Rank 2 runs the shorter program. To the instruction
exact() {
	# shellcheck disable=SC2016 # for the ranks' shells
	as_user "$mpirun $perfex"' sh -c '\''case $OMPI_COMM_WORLD_RANK in
		2) exec '$other' ;; *) exec '$known' ;; esac'\' || return
	[ "$(cd $work && echo ./*.json)" = './0.json ./1.json ./2.json ./3.json' ] || return
	as_user 'perfex merge --csv 0.json 1.json 2.json 3.json' || return
	line=$(grep '^instructions,u,' $work/out)
	# The shell before it executes the same in each rank, but for the place of its stack.
	echo "$line" | awk -F, -v a=$a '{
		exit !($4 == 4 && $6 == "2.json" && $5 < a && $8 >= a && $8 < a + 1000000 &&
		       $10 > 3 * a && $10 == $7 * 4)
	}' || return
	rm $work/*.json
	# Without a shell: each rank the same
	as_user "$mpirun $perfex $known" || return
	as_user 'perfex merge *.json' || return
	grep -q "^ *2,000,032  all  *2,000,032  *2,000,032  all  *8,000,128  instructions:u$" $work/out
}

# A program that sends messages: the sum of what it printed, and of each rank there are counts.
program() {
	rm -f $work/*.json
	as_user "$mpirun $perfex ranks" || return
	[ "$(grep -c '^rank [0-3] of 4: sum 6$' $work/out)" = 4 ] || return
	as_user 'perfex merge --json *.json' || return
	grep -q '"complete": true' $work/out &&
		grep -q '{"name": "instructions", "user": true, "kernel": false, "unit": "", "files": 4,' $work/out
}

# A rank that fails has counts as well, and mpirun says that it failed.
failure() {
	rm -f $work/*.json
	# shellcheck disable=SC2016
	as_user "$mpirun $perfex"' sh -c '\''exit $((OMPI_COMM_WORLD_RANK == 1 ? 5 : 0))'\'
	[ $? = 5 ] || return
	grep -q '"exit_status": 5' $work/1.json
}

for test in exact program failure; do
	$test
	result $test $?
done
