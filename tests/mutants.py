#!/usr/bin/python3
"""usage: mutants.py [WORD]...

mutants.sh tells what it does.
"""

import concurrent.futures
import filecmp
import os
import queue
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # it would be a new file in the checkout
import check  # noqa: E402

WORK = os.path.join(check.TOP, "build/mutants")
COPIES = 2
# What a program or a kernel says that a fault has made fail
NOTICED = re.compile(r"ERROR: (Address|Leak)Sanitizer|runtime error:|^boot: the (kernel complained|machine )")


class Mutant:
    """An entry of tests/mutants"""

    def __init__(self, text):
        head, rest = text.split("\n", 1)
        self.file, self.means = head.split(": ", 1)
        found = re.fullmatch(r"by (\S+)\n--\n(.*?\n)\+\+\n(.*?)\n*", rest, re.DOTALL)
        if not found:
            sys.exit(f"tests/mutants: no entry: {head}")
        self.part, self.old, new = found.groups()
        self.new = new + "\n" if new else ""

    def plant(self, top):
        """Plants it; returns what undoes that."""
        path = os.path.join(top, self.file)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.count(self.old) != 1:
            raise ValueError(f"tests/mutants: {self.file} has these lines {text.count(self.old)} times:\n{self.old}")

        def write(text):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)

        write(text.replace(self.old, self.new))
        return lambda: write(text)


def read_mutants():
    with open(os.path.join(check.HERE, "mutants"), encoding="utf-8") as f:
        entries = re.split(r"^== ", f.read(), flags=re.MULTILINE)[1:]
    return [Mutant(entry) for entry in entries]


def copy(number):
    """A copy of the sources, with what is built of them in its own build/. Only what differs is written, with
    the time of now: a file that is back to what it was is newer than what was built of it with a fault."""
    top = os.path.join(WORK, f"copy{number}")
    names = subprocess.run(["git", "-C", check.TOP, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                           stdout=subprocess.PIPE).stdout
    wanted = set(map(os.fsdecode, names.split(b"\0")[:-1]))
    for folder, folders, files in os.walk(top):
        if folder == top and "build" in folders:
            folders.remove("build")
        for name in files:
            if os.path.relpath(os.path.join(folder, name), top) not in wanted:
                os.remove(os.path.join(folder, name))
    for name in sorted(wanted):
        source, target = os.path.join(check.TOP, name), os.path.join(top, name)
        if not os.path.exists(source) or os.path.exists(target) and filecmp.cmp(source, target, shallow=False):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    return top


def run(top, name):
    """Runs a part there: which tests failed, and how it ended"""
    part = check.Part(["-", name, "0", "0", "0", "0", "-"])
    log = os.path.join(top, "build/log", name + ".log")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "wb") as f:
        status = subprocess.run([os.path.join(top, "tests/part.sh"), name], cwd=top, stdin=subprocess.DEVNULL,
                                stdout=f, stderr=f, check=False).returncode
    wrong, lines = check.judge(part, status, log)
    tests = [m[1] for m in map(check.NOT_OK.match, lines) if m]
    tests += [line.split(": ")[0] for line in lines if check.LIBCHECK_FAILURE.match(line)]
    tests += [line.strip()[:60] for line in lines if NOTICED.search(line)]
    return wrong, tests, lines


def main():
    words = sys.argv[1:]
    begun = time.monotonic()
    table = check.read_parts()
    mutants = [m for m in read_mutants()
               if not words or any(w in f"{m.file} {m.means} {m.part}" for w in words)]
    if not mutants:
        sys.exit("mutants: no such fault")
    print(f"perfctr: {len(mutants)} faults, in {COPIES} copies; half a minute for each", flush=True)
    tops = queue.Queue()
    for number in range(COPIES):
        tops.put(copy(number))
    passed = failed = 0

    def try_part(name):
        top = tops.get()
        try:
            wrong, _, lines = run(top, name)
        finally:
            tops.put(top)
        return name, wrong, lines

    def try_mutant(mutant):
        top = tops.get()
        undo = None
        start = time.monotonic()
        try:
            undo = mutant.plant(top)
            wrong, tests, lines = run(top, mutant.part)
        except ValueError as error:
            return mutant, f"it cannot be planted: {error}", [], 0
        finally:
            if undo:
                undo()
            tops.put(top)
        if not wrong:
            why = "it survives"
        elif not tests:
            why = "it fails before any test does:\n" + "\n".join("# " + line for line in lines[-8:])
        else:
            why = None
        return mutant, why, tests, time.monotonic() - start

    pool = concurrent.futures.ThreadPoolExecutor(COPIES)
    try:
        broken = set()
        for name, wrong, lines in pool.map(try_part, sorted({m.part for m in mutants})):
            if wrong:
                broken.add(name)
                print("\n".join("# " + line for line in lines[-20:]))
                print(f"not ok mutants.without: {name} fails without a fault: {wrong[0]}", flush=True)
                failed += 1
        tries = [pool.submit(try_mutant, m) for m in mutants if m.part not in broken]
        for done in concurrent.futures.as_completed(tries):
            mutant, why, tests, seconds = done.result()
            name = f"{mutant.file}: {mutant.means}"
            if why:
                failed += 1
                print(f"not ok mutants.survives: {name}: {mutant.part}: {why}", flush=True)
            else:
                passed += 1
                print(f"ok mutants.noticed ({seconds:.0f} s): {name}: {mutant.part}: {' '.join(tests[:3])}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)

    sets = {}
    for mutant in mutants:
        part = next((p for p in table.values() if p.set != "debug" and
                     p.name.split(":")[0] == mutant.part.split(":")[0]), None)
        sets[part.set if part else "none"] = sets.get(part.set if part else "none", 0) + 1
    print("their parts are in: " + ", ".join(f"{n} {name}" for name, n in sorted(sets.items())))
    print(f"in {check.minutes(time.monotonic() - begun)}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
