#!/usr/bin/python3
"""usage: functions.py DIRECTORY...

Compares functions of Linux's drivers of counters, on which counting beside perf relies, with those that we have
read: the file `functions` has the sum of each in each version that was read. Each DIRECTORY is what
tests/machines/linux-pmu.sh prints. Fails if a function of such a version differs or is missing. For other versions it
says in a line that begins with "note:" what has changed since, and passes: somebody has to read it.

functions.py --sums DIRECTORY... prints the lines of the file `functions` for these versions.
"""

import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def sum_of(path, name):
    """Returns a sum of a function's text without comments and blanks, or "missing"."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        return "missing"
    found = re.search(r"^(?:\w[^\n;]*[\s*])?" + name + r"\([^;{]*\)\n\{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)
    if not found:
        return "missing"
    bare = re.sub(r"/\*.*?\*/|\s+", "", found.group(0), flags=re.DOTALL)
    return hashlib.sha256(bare.encode()).hexdigest()[:12]


def read_known():
    """Returns the versions that were read, and for each function its file, its name, and a sum for each version."""
    with open(os.path.join(HERE, "functions"), encoding="utf-8") as f:
        lines = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return lines[0][2:], [(line[0], line[1], line[2:]) for line in lines[1:]]


def version_of(directory):
    return re.search(r"linux-pmu-([\d.]+)", directory).group(1)


def main():
    directories = sys.argv[1:]
    versions, known = read_known()
    if directories[:1] == ["--sums"]:
        directories = directories[1:]
        print("file", "function", *map(version_of, directories))
        for file, name, _ in known:
            print(file, name, *(sum_of(os.path.join(d, file), name) for d in directories))
        return 0
    passed = failed = 0
    for directory in directories:
        version = version_of(directory)
        wrong = []
        for file, name, sums in known:
            now = sum_of(os.path.join(directory, file), name)
            wanted = [sums[versions.index(version)]] if version in versions else sums
            if now not in wanted:
                wrong.append(name)
        if version not in versions and wrong:
            print(f"note: beside perf: Linux {version}: changed since they were read: {' '.join(wrong)}")
        if version in versions and wrong:
            failed += 1
            print(f"not ok linux.functions_of_{version}: {' '.join(wrong)}")
        else:
            passed += 1
            print(f"ok linux.functions_of_{version}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
