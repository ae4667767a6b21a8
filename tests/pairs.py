#!/usr/bin/python3
"""usage: pairs.py LOG...
       pairs.py --try

Which pairs of values the guests' tests have seen in one state that counted, by the lines
`state: native, a-mode, notifier, own, guarded` that each test program writes (guest/kit/pairs.c): how often,
and what is missing. check.py asks the same after all parts. --try tests this.
"""

import contextlib
import io
import itertools
import re
import sys
import tempfile

# Values of one factor stand together: how counters are read, what they do, how switches are seen, whose they are,
# who may read registers in user mode
FACTORS = (
    ("native", "inline", "call"),
    ("a-mode", "signal", "overflow", "time", "own way"),
    ("notifier", "tracepoint"),
    ("own", "traced", "outside", "session", "one-cpu"),
    ("off", "guarded", "open"),
)
# What no machine can have. README.md has the same, and unit/driver/engine/pairs.c
IMPOSSIBLE = {
    ("inline", "signal"): "perf's counters are never i-mode",
    ("call", "signal"): "perf's counters are never i-mode",
    ("inline", "overflow"): "perf's counters are never i-mode",
    ("call", "overflow"): "perf's counters are never i-mode",
    ("inline", "own way"): "own ways are of our registers",
    ("call", "own way"): "own ways are of our registers",
    ("overflow", "traced"): "a tracer's control has no RECORD",
    ("time", "traced"): "a tracer's control has no RECORD",
    ("signal", "session"): "no thread is there to signal",
    ("overflow", "session"): "a session has no RECORD",
    ("time", "session"): "a session has no RECORD",
}
ALL = [pair for one, other in itertools.combinations(FACTORS, 2) for pair in itertools.product(one, other)]
POSSIBLE = [pair for pair in ALL if pair not in IMPOSSIBLE]
STATE = re.compile(r"^state: (.+)$")


class Seen:
    """Pairs, and how many programs have seen each"""

    def __init__(self):
        self.times = dict.fromkeys(ALL, 0)

    def take(self, line):
        found = STATE.match(line)
        values = found[1].split(", ") if found else []
        for pair in itertools.product(values, values):
            if pair in self.times:
                self.times[pair] += 1

    def wrong(self):
        """A line for each pair that is missing, or that cannot be"""
        lines = [f"{a} and {b}: no machine had a state like that" for a, b in POSSIBLE if not self.times[a, b]]
        return lines + [f"{a} and {b}: a machine had a state like that, although {why}"
                        for (a, b), why in IMPOSSIBLE.items() if self.times[a, b]]

    def count(self):
        return f"pairs in the guests: {sum(self.times[pair] > 0 for pair in POSSIBLE)} of {len(POSSIBLE)}"


def table(seen):
    """Rows and columns as those of the engine's"""
    columns = [value for factor in FACTORS[1:] for value in factor]
    lines = [" " * 10 + "".join(f"{column:>11}" for column in columns)]
    for row in itertools.chain(*FACTORS[:-1]):
        cells = [("-" if (row, column) in IMPOSSIBLE else seen.times.get((row, column), "")) for column in columns]
        lines.append(f"{row:>10}" + "".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines)


def try_it():
    """Each possible pair that no line has is named, and no other; and each impossible one that a line has."""
    for missing in [None, *POSSIBLE]:
        seen = Seen()
        seen.take("ok exact.alone")
        for pair in POSSIBLE:
            if pair != missing:
                seen.take("state: " + ", ".join(pair))
        named = [line.split(":")[0] for line in seen.wrong()]
        assert named == ([" and ".join(missing)] if missing else []), (missing, named)
        assert seen.count().endswith(f" {len(POSSIBLE) - bool(missing)} of {len(POSSIBLE)}"), seen.count()
    # A state may have several values of a factor.
    seen.take("state: native, signal, time, traced")
    assert seen.times["signal", "traced"] == 2, seen.times
    assert [line.split(":")[0] for line in seen.wrong()][-1] == "time and traced", seen.wrong()


def try_check():
    """check.py takes the lines of the parts that ran, now or before; of a run of some parts it asks nothing."""
    sys.dont_write_bytecode = True  # it would be a new file in the checkout
    import check  # which imports this

    states = ["state: " + ", ".join(pair) for pair in POSSIBLE]
    logs = {"guest-now": states[:50], "guest-before": states[50:-1], "guest-waits": states[-1:]}
    with tempfile.TemporaryDirectory() as check.LOG:
        parts = {name: check.Part(["all", name, *"0000-"]) for name in logs}
        for name, lines in logs.items():
            parts[name].passed = 1
            with open(parts[name].log, "w", encoding="utf-8") as f:
                f.write("\n".join(["ok a.test", *lines, "1 passed, 0 failed"]))
        parts["guest-now"].process = True
        parts["guest-before"].before = True
        run = check.Run("all", parts, None)
        for whole, ends in ((True, "3 passed, 1 failed\n"), (False, "3 passed, 0 failed\n")):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                good = run.sum_up(whole)
            text = said.getvalue()
            assert good != whole and text.endswith(ends), text
            assert whole == (f"not ok {' and '.join(POSSIBLE[-1])}: no machine" in text), text
            assert whole == (f"\npairs in the guests: {len(POSSIBLE) - 1} of {len(POSSIBLE)}\n" in text), text
            assert text.count("not ok") == whole, text


def main():
    if sys.argv[1:] == ["--try"]:
        try_it()
        try_check()
        return 0
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    seen = Seen()
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8", errors="replace") as f:
            for line in f:
                seen.take(line.rstrip())
    print(table(seen))
    wrong = seen.wrong()
    for line in wrong:
        print(line)
    print(seen.count())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
