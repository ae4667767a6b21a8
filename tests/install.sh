#!/bin/sh
# usage: install.sh
#
# Whether `make uninstall` undoes `make install`, and nothing else, in a build root; and that no makefile
# removes what it did not make, whatever directories it is told of.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ "${INROOT-}" ] || exec "$here/machines/inroot" "/src/tests/${0##*/}"

cd /src
passed=0 failed=0
same() { # name expected got
	if [ "$2" = "$3" ]; then
		echo "ok install.$1"
		passed=$((passed + 1))
	else
		echo "not ok install.$1: '$3' instead of '$2'"
		failed=$((failed + 1))
	fi
}

to=/tmp/to
mkdir -p $to/usr/lib $to/usr/include/linux $to/usr/src/perfctr-other $to/usr/bin
echo other >$to/usr/include/linux/other.h
echo other >$to/usr/lib/libother.so
# Others may want the usual ones, and an empty one is not ours to remove.
directories() { (cd $to && find . -type d \( -name 'perf*' -o -path ./usr/bin \) | sort); }
files() { (cd $to && find . ! -type d | sort); }

before=$(directories)
files_before=$(files)
# As root may be who keeps his files to himself
(umask 077 && make -s O=/src/build/install DESTDIR=$to PREFIX=/usr install install-dkms) >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
[ -x $to/usr/bin/perfex ] && installed=yes || installed=no
same is_there yes "$installed"
same everybody_may_read '' "$(find $to/usr/lib/libp* $to/usr/include/[lp]*.h $to/usr/share $to/usr/libexec \
	$to/usr/bin/perfex $to/usr/src/perfctr-[0-9]* ! -type l \( ! -perm -o+r -o -type d ! -perm -o+x \) | head -n 3)"

# Not what the shell, make or printf might take for something else
address="the issues of 'A & B', <reports@example.org> #7 100%s"
told() { $to/usr/bin/perfex selftest --help | sed -n 's/.*Send this text to //p'; }
same no_address 'those who packaged or gave you perfctr.' "$(told)"
make -s O=/src/build/install DESTDIR=$to PREFIX=/usr SEND_TO="$address" install >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
same address "$address." "$(told)"
for bad in 'a"b' 'a\b' 'a
b'; do
	make -s O=/src/build/install SEND_TO="$bad" perfex >/tmp/log 2>&1 && refused=no || refused=yes
	same a_bad_address_is_refused yes \
		"$(grep -q 'SEND_TO must be one line without a double quote or a backslash' /tmp/log && echo "$refused")"
done
make -s O=/src/build/install DESTDIR=$to PREFIX=/usr uninstall uninstall-dkms >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
same no_file_is_left "$files_before" "$(files)"
same no_directory_is_left "$before" "$(directories)"

# Other people's files, wherever a name with a blank, or the lack of one, might lead
others=/tmp/others
all_of_them() { (cd $others && find . | sort); }
mkdir -p $others
cd $others
for dir in my my/usr/src/perfctr-7.0.0 'my packages/usr/src/perfctr-7.0.0' "it's; odd" build static shared corpus \
	manual installed lib perfex stage; do
	mkdir -p "$dir"
done
for dir in . my static shared corpus manual installed 'my packages/usr/src/perfctr-7.0.0' "it's; odd"; do
	for file in mine mine.o mine.d bench libperfctr.a; do
		echo '# mine' >"$dir/$file"
	done
done
theirs=$(all_of_them)

# Makes, and says whether that was refused in one sentence, before anything was done.
refused() { # ARG...
	status=refused
	make -s "$@" >/tmp/log 2>&1 && status=made
	[ "$(grep -c '[*][*][*] .*\(must\|No rule\)' /tmp/log)" = 1 ] || status="no sentence: $(cat /tmp/log)"
	[ "$(all_of_them)" = "$theirs" ] || status='it changed something'
	echo "$status"
}
makefiles=$(cd /src && find . -name Makefile ! -path './build/*' ! -path './module/*')
cd /src
for makefile in $makefiles; do
	name=$(echo "${makefile#./}" | tr / _)
	dir=/src/${makefile%/Makefile}
	[ "$makefile" = ./Makefile ] || {
		same "empty_O.$name" refused "$(refused -C "$dir" O= all)"
		same "blank_in_O.$name" refused "$(refused -C "$dir" "O=$others/my packages" all)"
		same "star_in_O.$name" refused "$(refused -C "$dir" "O=$others/m*" all)"
		same "nothing_cleans.$name" refused "$(refused -C "$dir" O=$others clean)"
	}
done
for goal in lib perfex-report install uninstall; do
	same "empty_O.$goal" refused "$(refused O= $goal)"
	same "blank_in_O.$goal" refused "$(refused "O=$others/my packages" $goal)"
	same "relative_DESTDIR.$goal" refused "$(refused O=/src/build/install DESTDIR=my $goal)"
	same "relative_PREFIX.$goal" refused "$(refused O=/src/build/install PREFIX=usr $goal)"
	same "blank_in_PREFIX.$goal" refused "$(refused O=/src/build/install "PREFIX=/usr/my local" $goal)"
done
for goal in install-dkms uninstall-dkms; do
	same "relative_DESTDIR.$goal" refused "$(refused DESTDIR=my $goal)"
done
cd $others
same clean_of_another_directory refused "$(refused -f /src/Makefile clean)"

# What works with any name: all of the install targets, and a relative O
cd /src
for to in "$others/my packages" "$others/it's; odd"; do
	DESTDIR=$to make -s O=build/install install install-dkms >/tmp/log 2>&1 || cat /tmp/log
	same "odd_DESTDIR.$to" yes "$([ -x "$to/usr/local/bin/perfex" ] && [ -e "$to/usr/src/perfctr-7.0.0/module/Kbuild" ] &&
		[ -e "$to/usr/local/share/man/man3/vperfctr_open.3" ] && echo yes)"
	DESTDIR=$to make -s O=build/install uninstall uninstall-dkms >/tmp/log 2>&1 || cat /tmp/log
	same "odd_DESTDIR_again.$to" yes "$([ ! -e "$to/usr/local/bin/perfex" ] && [ ! -e "$to/usr/src/perfctr-7.0.0/module" ] &&
		echo yes)"
	find "$to" -mindepth 1 -depth -type d -exec rmdir --ignore-fail-on-non-empty {} +
done
same odd_DESTDIR_keeps_others_files yes "$([ "$(all_of_them)" = "$theirs" ] && echo yes)"

# A checkout whose directory has a blank, and that its owner alone may read
checkout="$others/my packages/checkout"
(umask 077 && mkdir "$checkout" && cp -R Makefile common.mk dkms.conf lib tools module include packaging "$checkout")
theirs=$(all_of_them)
cd "$checkout"
for goal in all uninstall deb; do
	same "blank_in_checkout.$goal" refused "$(refused $goal)"
done
to=/tmp/dkms
make -s install-dkms DESTDIR=$to >/tmp/log 2>&1 || cat /tmp/log
same dkms_may_read '' "$(find $to ! -type l \( ! -perm -o+r -o -type d ! -perm -o+x \) | head -n 3)"

# make without its own rules and variables
cd /src/lib
same no_builtin_variables 'ar gcc' "$(make -rR -n -B O=/src/build/install/lib | sed -n 's/^\(gcc\|ar\) .*/\1/p' | sort -u | xargs)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
