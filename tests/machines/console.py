#!/usr/bin/python3
"""usage: console.py [--parallel] [--keys FILE] --log FILE --out DIR --timeout SECONDS COMMAND...

Runs an emulator whose console is its standard output, and shows what the
machine's job prints: from the line @@start@@ on, without the lines that
/init and putfile mean for us.

The status is that of the job; 97 if --parallel says that processors execute at the
same time, and one of them executed an INT3 of text that another had just patched, or
the machine did not even begin its job within STARTS seconds;
98 if the kernel complained; 99 if the machine did not get as far as the job's end.
Of one whose time was up it shows what its processors were doing.

FILE of --keys has a line for each question that the machine asks at its console, in their order: a part
of the question, a tab, and the keys, with Python's escapes.
"""

import argparse
import base64
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Only INT3 has this Oops, and the kernel has INT3 only while it patches its text: a
# BUG() is another instruction. QEMU's threads sometimes run old text.
QEMU_INT3 = re.compile(r"^(\[[ .0-9]*\] )?int3: 0000 \[#1\]", re.MULTILINE)

# The longest that was seen is 20, beside three other machines.
STARTS = 300

# Where a terminal's text goes, and its colours
ESCAPE = re.compile(r"\x1b\[[0-9;?=]*[A-Za-z]")

CONTROL = re.compile(rb"@@(start|end|kernel|exit (\d+)|file ([\w.-]+))@@$")


class Console:
    """Takes the console's output and sorts it."""

    def __init__(self, out):
        self.out = out
        self.started = False
        self.begun = False  # it has started, ever
        self.status = None
        self.complaints = []
        self.file = None  # name of the file that is coming
        self.block = None  # lines of it, or of the complaints
        self.line = b""  # what came of the current line
        self.shown = 0  # how much of it was shown

    def feed(self, data):
        for part in data.splitlines(keepends=True):
            self.line += part
            if part.endswith(b"\n"):
                self.end_of_line()
        # An unfinished line is shown at once, as it may be a prompt, but for
        # what could be the beginning of a control line or the line's end.
        if self.started and self.block is None:
            self.show(re.search(rb"@@|@$|\r$|$", self.line).start())
        sys.stdout.flush()

    def show(self, end=None):
        text = self.line[self.shown : end]
        sys.stdout.buffer.write(text)
        self.shown += len(text)

    def end_of_line(self):
        text = self.line.rstrip(b"\r\n")
        self.line = text + b"\n"
        control = CONTROL.search(text)
        if control:
            if self.started and self.block is None:
                self.show(control.start())
            self.obey(control)
        elif self.block is not None:
            self.block.append(text)
        elif self.started:
            self.show()
        self.line, self.shown = b"", 0

    def obey(self, control):
        word = control.group(1).split()[0]
        if word == b"start":
            self.started = self.begun = True
        elif word == b"exit":
            self.status = int(control.group(2))
            self.started = False  # the rest is the kernel's farewell
        elif word == b"end":
            self.finish_block()
        else:
            name = control.group(3)
            self.file = name.decode() if name else None
            self.block = []

    def finish_block(self):
        if self.file:
            os.makedirs(self.out, exist_ok=True)
            with open(os.path.join(self.out, self.file), "wb") as f:
                f.write(base64.b64decode(b"".join(self.block or [])))
        else:
            self.complaints = self.block or []
        self.file = self.block = None


class Keys:
    """Answers what the machine asks at its console."""

    def __init__(self, path):
        self.asked = []
        if path:
            with open(path, encoding="ascii") as f:
                self.asked = [line.rstrip("\n").split("\t") for line in f]
        self.said = ""  # since the last answer

    def feed(self, data):
        """The keys for what the machine now asks, if any"""
        if not self.asked:
            return b""
        self.said = (self.said + data.decode(errors="replace"))[-65536:]
        if self.asked[0][0] not in ESCAPE.sub("", self.said):
            return b""
        self.said = ""
        return self.asked.pop(0)[1].encode().decode("unicode_escape").encode()


def look(pid, path):
    """What an emulator that has stopped to tell anything is doing."""
    for _ in range(3):
        for task in sorted(os.listdir(f"/proc/{pid}/task")):
            try:
                with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as f:
                    stat = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has ended
            # Fields 3, 14 and 15 of proc(5), as the second is cut off
            print(f"| thread {task}: {stat[0]}, user {stat[11]}, kernel {stat[12]} ticks")
        try:
            with socket.socket(socket.AF_UNIX) as monitor:
                monitor.settimeout(5)
                monitor.connect(path)
                monitor.sendall(b"info registers -a\n")
                while True:
                    text = monitor.recv(65536).decode(errors="replace")
                    for line in text.splitlines():
                        if not line.startswith((" f", "FPR")):  # floating point
                            print("|", line)
        except OSError as error:
            print(f"| its monitor: {error}")
        sys.stdout.flush()


def run(command, timeout, starts, log, console, monitor, keys):
    """Runs the emulator; returns why it was ended, or None if it ended."""
    begun = time.monotonic()
    # However we end, the emulator does too.
    command = ["setpriv", "--pdeathsig", "KILL"] + command
    command += ["-monitor", f"unix:{monitor},server=on,wait=off"]
    stdin = subprocess.PIPE if keys.asked else None
    with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE) as emulator:
        assert emulator.stdout
        while True:
            limit = timeout if console.begun or not starts else starts
            wait = begun + limit - time.monotonic() if limit else None
            if wait is not None and wait <= 0:
                look(emulator.pid, monitor)
                emulator.kill()
                return f"was still running after {limit:g} s"
            if not select.select([emulator.stdout], [], [], wait)[0]:
                continue
            data = os.read(emulator.stdout.fileno(), 65536)
            if not data:
                return None
            log.write(data)
            console.feed(data)
            answer = keys.feed(data)
            if answer and emulator.stdin:
                emulator.stdin.write(answer)
                emulator.stdin.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parallel", action="store_true")
    parser.add_argument("--keys")
    parser.add_argument("--log", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--timeout", type=float, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback
    console = Console(args.out)
    # Other machines of this kind may be running: the last to end stays.
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/log", "wb", buffering=0) as log:
            starts = STARTS if args.parallel else 0
            why = run(args.command, args.timeout, starts, log, console, f"{folder}/monitor",
                      Keys(args.keys))
        shutil.copyfile(f"{folder}/log", args.log)

    if console.status is None:
        print(f"\nboot: the machine {why or 'stopped before its job did'};"
              " the last lines of its console:", file=sys.stderr)
        with open(args.log, errors="replace", encoding="utf-8") as log:
            # Without the firmware's greeting, if it got further than that.
            text = log.read()
        lines = text.split("@@start@@")[-1].strip().splitlines()
        for line in lines[-40:]:
            print("|", line, file=sys.stderr)
        if args.parallel and (QEMU_INT3.search(text) or not console.begun):
            print("boot: a fault of QEMU's, not of what runs there", file=sys.stderr)
            return 97
        return 99
    if console.complaints:
        print("\nboot: the kernel complained:", file=sys.stderr)
        for text in console.complaints:
            print("|", text.decode(errors="replace"), file=sys.stderr)
        return 98
    return console.status


sys.exit(main())
