#!/bin/sh
# usage: install.sh
#
# Whether `make uninstall` undoes `make install`, and nothing else, in a build root.
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
make -s O=/src/build/install DESTDIR=$to PREFIX=/usr install install-dkms >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
[ -x $to/usr/bin/perfex ] && installed=yes || installed=no
same is_there yes "$installed"

# Not what the shell, make or printf might take for something else
address="the issues of 'A & B', <reports@example.org> #7 100%s"
told() { $to/usr/bin/perfex --help | sed -n 's/.*Send this text to //p'; }
same no_address 'those who packaged or gave you perfctr.' "$(told)"
make -s O=/src/build/install DESTDIR=$to PREFIX=/usr REPORT_TO="$address" install >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
same address "$address." "$(told)"
for bad in 'a"b' 'a\b' 'a
b'; do
	make -s O=/src/build/install REPORT_TO="$bad" perfex >/tmp/log 2>&1 && refused=no || refused=yes
	same a_bad_address_is_refused yes \
		"$(grep -q 'REPORT_TO must be one line without a double quote or a backslash' /tmp/log && echo "$refused")"
done
make -s O=/src/build/install DESTDIR=$to PREFIX=/usr uninstall uninstall-dkms >/tmp/log 2>&1 || {
	cat /tmp/log
	exit 1
}
same no_file_is_left "$files_before" "$(files)"
same no_directory_is_left "$before" "$(directories)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
