#!/usr/bin/python3
"""usage: coverage.py host DIR | guest KO REACH.gz OBJDUMP | sum LINES...

For coverage.sh, which tells what it is for. `host` prints the lines of module/ that gcov's files below DIR tell of,
and `guest` those of a module whose blocks in REACH.gz were executed (machines/reach): a line for each,
"FILE LINE FUNCTION 1", or 0 if it was not reached. `sum` adds such files up and prints what is missing.
"""

import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Lines:
    """Of each file and line: whether it was reached, and in which function it is"""

    def __init__(self):
        self.reached = collections.defaultdict(bool)
        self.function = {}

    def add(self, file, line, function, reached):
        key = file, line
        self.reached[key] |= reached
        if function:
            self.function.setdefault(key, function)

    def print(self):
        for (file, line), reached in sorted(self.reached.items()):
            print(file, line, self.function.get((file, line), "-"), int(reached))


def in_module(path):
    """As the checkout has it: FILE of .../module/FILE"""
    found = re.search(r"(?:^|/)(module/(?!.*/module/).*\.[ch])$", path)
    return found[1] if found else None


def host(folder):
    lines = Lines()
    for notes in sorted(glob.glob(os.path.join(folder, "*/module_*.gcno"))):
        text = subprocess.run(["gcov", "--json-format", "--stdout", notes], check=True, stdout=subprocess.PIPE).stdout
        for file in json.loads(text)["files"]:
            name = in_module(file["file"])
            for line in file["lines"] if name else []:
                lines.add(name, line["line_number"], line.get("function_name"), line["count"] > 0)
    lines.print()


def guest(module, told, objdump):
    sections, base, executed = {}, {}, set()
    with gzip.open(told, "rt") as f:
        for word in f:
            section = re.match(r"(\S+):(0x[0-9a-f]+)$", word)
            if section:
                sections[section[1]] = int(section[2], 16)
                continue
            name, number = word.split()
            if len(name) > 1:
                base[name[0]] = int(number, 16)
            else:
                executed.add(base[name] + int(number, 16))

    lines = Lines()
    block, section, function, places, after, waiting = None, None, "", [], False, []
    dump = subprocess.run([objdump, "-d", "-r", "-l", "--inlines", "--no-show-raw-insn", module], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for text in dump.splitlines():
        found = re.match(r"Disassembly of section (.*):", text)
        if found:
            section, function = sections.get(found[1]), ""
        elif section is None:
            continue
        elif re.match(r"[0-9a-f]+ <", text):
            # What stands before the first block's call is that block's.
            function, block, places, waiting = text.split("<")[1].split(">")[0], None, [], []
        elif re.match(r"(inlined by )?/\S+:\d+", text):
            # A line, and the calls of inline functions that led there
            inlined, file, line = re.match(r"(inlined by )?(/\S+):(\d+)", text).groups()
            place = (in_module(file), int(line))
            if not inlined:
                places = []
            if place[0] and place not in places:
                places.append(place)
        elif "__sanitizer_cov_trace_pc" in text:
            after = True
        else:
            at = re.match(r" *([0-9a-f]+):\t(\S+)", text)
            if not at:
                continue
            if after and at[2] != "jalr":
                after = False
                block = section + int(at[1], 16) in executed
                for file, line in waiting:
                    lines.add(file, line, function, block)
                waiting = []
            if block is None:
                waiting += places
                continue
            for place in places:
                lines.add(*place, function, block)
    lines.print()


def read_named():
    """tests/unreached: of each file what is named, a line's text or "function()" """
    named = collections.defaultdict(dict)
    with open(os.path.join(HERE, "unreached"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("== "):
                file, why = line[3:].rstrip().split(": ", 1)
            elif line.strip() and not line.startswith("#"):
                named[file][line.strip()] = why
    return named


def total(files):
    lines, parts = Lines(), []
    for name in files:
        own = Lines()
        with open(name, encoding="utf-8") as f:
            for text in f:
                file, line, function, reached = text.split()
                for to in lines, own:
                    to.add(file, int(line), "" if function == "-" else function, reached == "1")
        parts.append((name, own))
    for name, own in parts:
        print(f"{sum(own.reached.values()):6} of {len(own.reached):5} lines: {os.path.basename(name)[:-len('.lines')]}")

    # gcc makes no code for many a `return err`: of those only the host can tell.
    compiled = {key for name, own in parts if os.path.basename(name) != "host.lines" for key in own.reached}
    entered = {(file, own.function.get((file, line), "").split(".")[0]) for _, own in parts
               for (file, line), reached in own.reached.items() if reached}
    named, used = read_named(), set()
    source, missing, untold, excused = {}, [], [], 0
    for (file, line), reached in sorted(lines.reached.items()):
        if reached:
            continue
        if file not in source:
            with open(file, encoding="utf-8") as f:
                source[file] = f.read().split("\n")
        text = source[file][line - 1].rstrip()
        if re.match(r"[^\s#]", text):
            continue  # of a function whose other lines say it
        text = text.strip()
        function = lines.function.get((file, line), "").split(".")[0]
        name = next((n for n in (text, function + "()") if n in named[file]), None)
        told = f"{file}:{line}: {function}: {text}"
        if name:
            used.add((file, name))
            excused += 1
        elif (file, line) not in compiled and (file, function) in entered and \
                any(f == file for f, _ in compiled):
            untold.append(told)
        else:
            missing.append(told)
    for file, names in named.items():
        for name in names:
            if (file, name) not in used:
                print(f"note: tests/unreached names what was reached: {file}: {name}")
    print("Not reached on the host, and without code of their own in the machines' modules:")
    print("\n".join(untold))
    print("Not reached:")
    print("\n".join(missing))
    reached = sum(lines.reached.values())
    print(f"{reached} of {len(lines.reached)} lines are reached; of {len(untold)} nothing can be told; "
          f"{excused} that are not are named, {len(missing)} are not ({100 * len(missing) / len(lines.reached):.1f} %)")
    print("ok coverage" if not missing else "not ok coverage: lines that nothing reaches and nothing names: see above")
    print(f"{int(not missing)} passed, {int(bool(missing))} failed")
    return 1 if missing else 0


def main():
    what, *args = sys.argv[1:]
    if what == "host":
        host(*args)
    elif what == "guest":
        guest(*args)
    else:
        return total(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
