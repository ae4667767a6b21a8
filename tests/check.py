#!/usr/bin/python3
"""usage: check.py [--go-on] SET|PART[:TEST]...

Runs the parts of a SET of tests/parts, or those that are named, two at a time, each when
what it needs is made. What a part says is in build/log/PART.log; of one that fails the tests
that failed are printed, and the command that runs these alone again. The last line is
`N passed, N failed`.

A part fails if its status says so, if a test of it failed, if it did not come to the line that counts
its tests, if fewer passed than tests/parts says, or if none did. After all parts that gate it also
fails if a test was skipped in each part that has it: then nothing runs it; and if no machine had a
state with two values that can be together (pairs.py).

A run of a SET that was interrupted goes on where it was, if nothing has changed since. With --go-on so
does one that came to its end: parts that passed are not run again.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # it would be a new file in the checkout
import pairs  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
LOG = os.path.join(TOP, "build/log")
STATE = os.path.join(TOP, "build/log/state.json")
SLOTS = 2
SETS = {"check": ["check"], "all": ["check", "all"], "debug": ["debug"]}
# Parts that are several runs, each with a count
SEVERAL = re.compile(r"^(unit|engine|events|p4|noise|kvm-.*)$")
# What only makes something
MAKES = re.compile(r"^(root|qemu|linux|stage)-")
# What may have nothing to say, since it depends on others: `note:` lines tell
NOTES = {"newest"}
# Parts of which one test can be run alone
ALONE = re.compile(r"^(guest|more|full-guest|shared|tracepoint)-(?!stress|debug)|^(unit|quick|lint)$")
# What makes a part another one
VARIABLES = ("PERFCTR_CACHE", "FUZZ_SECONDS", "OPS", "WRITES", "ENGINE_SEED", "ENGINE_STEPS", "ENGINE_ROWS",
             "COMMITS_SINCE", "SINCE")
# Seconds for a part that is told to stop
PATIENCE = 30

COUNT = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
LIBCHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$")
LIBCHECK_FAILURE = re.compile(r"^\S+?:\d+:[FE]:")
OK = re.compile(r"^ok ([^\s:]+)")
NOT_OK = re.compile(r"^not ok ([^\s:]+)")
SKIPPED = re.compile(r"^skipped ([^\s:]+)")
RETRY = re.compile(r"^try \d+ ended by ")


class Part:
    """A line of tests/parts, and what became of it."""

    def __init__(self, words):
        self.set, self.name, least, cold, warm, fetch, needs = words
        self.least = int(least)
        self.budget = {"cold": int(cold), "warm": int(warm)}
        self.fetch = int(fetch)
        self.needs = [] if needs == "-" else needs.split(",")
        self.made = bool(MAKES.match(self.name))
        self.process = None
        self.state = "waits"  # runs, passed, failed
        self.passed = self.failed = self.skipped = self.retries = 0
        self.seconds = self.cpu = 0.0
        self.begun = 0.0
        self.before = False  # in the run that this one goes on from

    @property
    def log(self):
        return os.path.join(LOG, self.name + ".log")


def say(text=""):
    print(text, flush=True)


def read_parts():
    parts = {}
    with open(os.path.join(HERE, "parts"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                part = Part(words)
                parts[part.name] = part
    return parts


def choose(words):
    """The parts that are asked for, with what they need, in the table's order"""
    table = read_parts()
    wanted = {}

    def want(part):
        for name in part.needs:
            want(table[name])
        wanted.setdefault(part.name, part)

    for word in words:
        if word in SETS:
            for part in table.values():
                if part.set in SETS[word]:
                    want(part)
        elif word in table:
            want(table[word])
        else:
            # A test of a part, or a part that no set has
            base = table.get(word.split(":")[0])
            needs = ",".join(base.needs if base else []) or "-"
            warm = str(base.budget["warm"]) if base else "0"
            want(Part(["-", word, "0", warm, warm, "0", needs]))
    return wanted


def cache():
    home = os.environ.get("HOME")
    return os.path.join(os.environ.get("PERFCTR_CACHE") or os.environ.get("XDG_CACHE_HOME") or
                        (os.path.join(home, ".cache") if home else "/var/cache"), "perfctr")


def there(part):
    """Whether the cache has what a part makes. QEMU and kernels of any recipe will do: it is only to say how long
    a run takes."""
    if part.name.startswith("root-"):
        return subprocess.run([os.path.join(HERE, "machines/root.sh"), "--there", part.name.removeprefix("root-")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
    try:
        return any(re.match(re.escape(part.name) + "-[0-9a-f]", name) for name in os.listdir(cache()))
    except OSError:
        return False


def tree():
    """What the sources are, or nothing if git cannot tell"""
    def git(*words):
        return subprocess.run(["git", "-C", TOP, *words], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
    try:
        whole = hashlib.sha256(git("rev-parse", "HEAD^{tree}") + git("diff", "HEAD"))
        whole.update(repr([os.environ.get(v) for v in VARIABLES]).encode())
        for name in git("ls-files", "-o", "-z", "--exclude-standard").split(b"\0")[:-1]:
            with open(os.path.join(os.fsencode(TOP), name), "rb") as f:
                whole.update(name + f.read())
        return whole.hexdigest()
    except (OSError, subprocess.CalledProcessError):
        return None


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Results:
    """What build/log/state.json keeps of a run, for one that goes on from there"""

    def __init__(self, go_on, whole):
        self.tree = tree()
        self.kept = {}
        self.whole = whole
        self.ended = True
        try:
            with open(STATE, encoding="utf-8") as f:
                old = json.load(f)
            if self.tree and old["tree"] == self.tree and (go_on or not whole or not old["ended"]):
                self.kept, self.ended = old["parts"], old["ended"]
        except (OSError, ValueError, KeyError):
            pass
        self.takes = go_on or whole

    def take(self, part):
        kept = self.kept.get(part.name)
        if not self.takes or not kept or not os.path.exists(part.log):
            return False
        part.state, part.before = "passed", True
        part.passed, part.skipped, part.retries, part.seconds, part.cpu = kept
        return True

    def write(self, ended):
        # Single parts neither begin nor end a set.
        ended = ended if self.whole else self.ended
        with open(STATE + ".new", "w", encoding="utf-8") as f:
            json.dump({"tree": self.tree, "ended": ended, "parts": self.kept}, f)
        os.rename(STATE + ".new", STATE)

    def note(self, part):
        self.kept.pop(part.name, None)
        # Who edits meanwhile has tested neither the one nor the other.
        if part.state == "passed" and tree() == self.tree:
            self.kept[part.name] = [part.passed, part.skipped, part.retries, part.seconds, part.cpu]
        self.write(False)


def failures(lines):
    """The lines that say what failed. What follows a `not ok` up to the next result says more, as the difference
    between two texts."""
    found = []
    more = 0
    for line in lines:
        if NOT_OK.match(line):
            found.append(line)
            more = 16
        elif LIBCHECK_FAILURE.match(line):
            found.append(line)
        elif OK.match(line) or SKIPPED.match(line) or COUNT.match(line):
            more = 0
        elif more:
            found.append("  " + line)
            more -= 1
    return found


def judge(part, status, log):
    """Reads what a part said; returns what was wrong with it, a line each, and all that it said."""
    with open(log, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    base = part.name.split(":")[0]
    counts = [m for m in map(COUNT.match, lines) if m]
    if counts and not SEVERAL.match(base):
        counts = counts[-1:]
    checks = [m for m in map(LIBCHECK.match, lines) if m] if base == "unit" else []
    part.passed = sum(int(m[1]) for m in counts) + sum(int(m[1]) - int(m[2]) - int(m[3]) for m in checks)
    part.failed = sum(int(m[2]) for m in counts) + sum(int(m[2]) + int(m[3]) for m in checks)
    part.skipped = sum(int(m[3] or 0) for m in counts)
    part.retries = sum(bool(RETRY.match(line)) for line in lines)
    wrong = failures(lines)
    if part.made:
        if status:
            wrong.append(f"it ended with status {status}")
    elif not counts and not checks:
        wrong.append(f"it ended with status {status}, and without a count of its tests")
    elif status and not part.failed:
        wrong.append(f"it ended with status {status}")
    elif not part.passed and not part.failed and part.name not in NOTES:
        wrong.append("it ran no test")
    elif not part.failed and part.passed < part.least:
        wrong.append(f"{part.passed} tests passed; tests/parts says that there are at least {part.least}")
    if part.failed and not wrong:
        wrong.append(f"{part.failed} tests failed")
    if wrong:
        part.failed = max(part.failed, 1)
    return wrong, lines


def alone(part, wrong):
    """The commands that run again what failed, and nothing else"""
    names = []
    for line in wrong if ALONE.match(part.name) else []:
        found = NOT_OK.match(line)
        if found and "." in found[1]:
            names.append(f"{part.name.split(':')[0]}:{found[1]}")
        elif found and found[1].startswith("lint-"):
            names.append(f"{part.name.split(':')[0]}:{found[1].removeprefix('lint-')}")
    return sorted(set(names)) or [part.name]


class Run:
    """The parts, as they run"""

    def __init__(self, title, parts, results):
        self.title = title
        self.parts = parts
        self.results = results
        self.begun = time.monotonic()
        self.terminal = sys.stdout.isatty()
        self.line = False  # that moves is on the screen
        self.asked = 0.0
        makes = [p for p in parts.values() if p.name.startswith(("root-", "qemu-"))]
        self.kind = "cold" if makes and not all(map(there, makes)) else "warm"

    # --- What is said

    def clear(self):
        if self.line:
            sys.stdout.write("\r\x1b[K")
            self.line = False

    def tell(self, text):
        self.clear()
        say(text)

    def left(self):
        return [p for p in self.parts.values() if p.state in ("waits", "runs")]

    def still(self):
        """Seconds that are left, by the budgets: all CPUs are busy."""
        now = time.monotonic()
        rest = 0.0
        for part in self.left():
            spent = now - part.begun if part.state == "runs" else 0
            rest += max(part.budget[self.kind] - spent, 0)
        return rest / SLOTS

    def greet(self):
        left = self.left()
        fetch = sum(p.fetch for p in left if not there(p)) if self.kind == "cold" else 0
        text = f"perfctr: {self.title}: {len(left)} parts"
        before = sum(p.before for p in self.parts.values())
        if before:
            text += f" (and {before} that passed before)"
        if fetch:
            text += f"; it fetches and makes first what is not in {cache()}: {fetch} MB to fetch"
        wait = self.still()
        if wait:
            text += f"; about {max(1, round(wait / 60))} minutes"
        say(text)

    def move(self):
        if not self.terminal:
            return
        now = time.monotonic()
        runs = ", ".join(f"{p.name} {minutes(now - p.begun)}" for p in self.parts.values() if p.state == "runs")
        done = len(self.parts) - len(self.left())
        text = (f"{done} of {len(self.parts)}, {minutes(now - self.begun)}, about {minutes(self.still())} left:"
                f" {runs}")
        columns = shutil.get_terminal_size().columns
        sys.stdout.write("\r" + text[: columns - 1] + "\x1b[K")
        sys.stdout.flush()
        self.line = True

    def report(self, part, wrong, lines):
        budget = part.budget[self.kind]
        cost = f"{part.cpu:.0f} s of CPU" + (f" (budget {budget})" if budget else "")
        cost += f" in {part.seconds:.0f} s; {len(self.left())} left"
        what = "made" if part.made else f"{part.passed} passed"
        if part.skipped:
            what += f", {part.skipped} skipped"
        if part.retries:
            what += f", {part.retries} RETRIED"
        for line in lines:
            if line.startswith("note: "):
                self.tell(line)
        if not wrong:
            self.tell(f"{part.name}: {what}, {cost}")
            return
        self.tell(f"{part.name}: {part.failed} FAILED, {what}, {cost}")
        for line in wrong[:40]:
            say(f"    {line}")
        if not any(NOT_OK.match(line) or LIBCHECK_FAILURE.match(line) for line in wrong):
            say(f"    the end of build/log/{part.name}.log:")
            for line in lines[-30:]:
                say(f"    | {line}")
        say(f"  all that it said: build/log/{part.name}.log; again:")
        for name in alone(part, wrong)[:5]:
            say(f"    tests/check.sh {name}")

    # --- What is done

    def start(self, part):
        part.state, part.begun = "runs", time.monotonic()
        with open(part.log, "wb") as log:
            part.process = subprocess.Popen([os.path.join(HERE, "part.sh"), part.name], cwd=TOP,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            process_group=0)

    def end(self, part, status, usage):
        part.seconds = time.monotonic() - part.begun
        part.cpu = usage.ru_utime + usage.ru_stime
        part.process.returncode = status
        wrong, lines = judge(part, status, part.log)
        part.state = "failed" if wrong else "passed"
        self.results.note(part)
        self.report(part, wrong, lines)

    def step(self):
        """Starts what can be; False if nothing runs any more."""
        for part in self.parts.values():
            needs = [self.parts[name] for name in part.needs]
            if part.state == "waits" and any(p.state == "failed" for p in needs):
                part.state, part.failed = "failed", 1
                self.tell(f"{part.name}: FAILED, as {' and '.join(p.name for p in needs if p.state == 'failed')} did")
        runs = sum(p.state == "runs" for p in self.parts.values())
        for part in self.parts.values():
            if runs < SLOTS and part.state == "waits" and \
                    all(self.parts[name].state == "passed" for name in part.needs):
                self.start(part)
                runs += 1
        return runs > 0

    def run(self):
        while self.step():
            # What sudo was told is forgotten after some minutes.
            if os.getuid() and time.monotonic() - self.asked > 60:
                subprocess.run(["sudo", "-n", "-v"], stdin=subprocess.DEVNULL, check=False)
                self.asked = time.monotonic()
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                self.move()
                time.sleep(0.2)
                continue
            for part in self.parts.values():
                if part.process and part.process.pid == pid:
                    self.end(part, os.waitstatus_to_exitcode(status), usage)
        self.clear()

    def stop(self):
        """Ends what runs, with all that it has started. Each cleans up after itself."""
        groups = [p.process.pid for p in self.parts.values() if p.state == "runs"]
        for end in (signal.SIGTERM, signal.SIGKILL):
            limit = time.monotonic() + PATIENCE
            groups = [group for group in groups if self.tell_group(group, end)]
            while groups and time.monotonic() < limit:
                time.sleep(0.1)
                for part in self.parts.values():
                    if part.process:
                        part.process.poll()
                groups = [group for group in groups if self.tell_group(group, 0)]

    @staticmethod
    def tell_group(group, number):
        """Sends a signal to what a part has started; whether there still is any of it"""
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        # What sudo has started only root may end.
        if number and os.getuid():
            subprocess.run(["sudo", "-n", "kill", f"-{int(number)}", "--", f"-{group}"], stderr=subprocess.DEVNULL,
                           check=False)
        return True

    # --- What it comes to

    def lines(self):
        """What the parts said, each line with its part"""
        for part in self.parts.values():
            if part.made or not (part.process or part.before):
                continue
            with open(part.log, encoding="utf-8", errors="replace") as f:
                for line in f:
                    yield part, line.rstrip("\n")

    def unseen(self):
        """Pairs of values that no machine had in one state, or that cannot be, and how many there were"""
        seen = pairs.Seen()
        for _, line in self.lines():
            seen.take(line)
        return seen.wrong(), seen.count()

    def nowhere(self):
        """Tests that each part skipped that has them"""
        skipped, ran = {}, set()
        for part, line in self.lines():
            found = SKIPPED.match(line)
            if found and "." in found[1]:
                skipped.setdefault(found[1], []).append(part.name)
            found = OK.match(line) or NOT_OK.match(line)
            if found:
                ran.add(found[1])
        # A run of stress has a line only for what it lacks.
        stress = [p for p in self.parts.values() if "stress-" in p.name]
        ran.update(name for name, by in skipped.items() if name.startswith("stress.") and len(by) < len(stress))
        return sorted(set(skipped) - ran)

    def sum_up(self, whole):
        parts = list(self.parts.values())
        passed = sum(p.passed for p in parts)
        failed = sum(p.failed for p in parts)
        skipped = sum(p.skipped for p in parts)
        retries = sum(p.retries for p in parts)
        bad = [p.name for p in parts if p.state == "failed"]
        if whole:
            names = self.nowhere()
            unseen, count = self.unseen()
            failed += len(names) + len(unseen)
            for name in names:
                say(f"not ok {name}: every part skips it, so nothing runs it")
            for pair in unseen:
                say(f"not ok {pair}")
            say(count)
        say()
        say(f"{'part':<34} {'passed':>7} {'skipped':>8} {'s':>6} {'CPU s':>6} {'budget':>7}")
        for part in parts:
            if part.state == "waits":
                continue
            over = part.cpu > part.budget[self.kind] > 0
            marks = (" before" if part.before else "") + (" OVER" if over else "") + \
                (" FAILED" if part.state == "failed" else "")
            say(f"{part.name:<34} {part.passed:>7} {part.skipped:>8} {part.seconds:>6.0f} {part.cpu:>6.0f}"
                f" {part.budget[self.kind]:>7}{marks}")
        say(f"{'in all':<34} {passed:>7} {skipped:>8} {time.monotonic() - self.begun:>6.0f}"
            f" {sum(p.cpu for p in parts):>6.0f} {sum(p.budget[self.kind] for p in parts):>7}")
        if retries:
            say(f"{retries} runs were tried again, as QEMU failed")
        if bad:
            say(f"failed: {' '.join(bad)}")
        say(f"in {minutes(time.monotonic() - self.begun)}; what each part said is in build/log")
        say(f"{passed} passed, {failed} failed")
        return failed == 0 and (passed > 0 or all(p.made or p.name in NOTES for p in parts))


def main():
    words = sys.argv[1:]
    go_on = "--go-on" in words
    words = [w for w in words if w != "--go-on"]
    if not words or any(w.startswith("-") for w in words):
        say(__doc__.split("\n", maxsplit=1)[0])
        return 2
    parts = choose(words)
    if os.getuid():
        # Nothing can ask later.
        subprocess.run(["sudo", "-v"], check=True)
    os.makedirs(LOG, exist_ok=True)
    with open(os.path.join(LOG, ".lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("perfctr: another check.sh runs in this checkout: waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        return run_all(words, parts, go_on)


def run_all(words, parts, go_on):
    results = Results(go_on, all(word in SETS for word in words))
    for part in parts.values():
        results.take(part)
    results.write(False)
    run = Run("make check" if words == ["check"] else " ".join(words), parts, results)
    run.greet()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        signal.signal(number, signal.default_int_handler)
    try:
        run.run()
    except BaseException as error:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        run.stop()
        if not isinstance(error, KeyboardInterrupt):
            raise
        run.tell("perfctr: stopped; what is made is kept, and the next call goes on from here")
        return 130
    results.write(True)
    return 0 if run.sum_up(words == ["all"]) else 1


if __name__ == "__main__":
    sys.exit(main())
