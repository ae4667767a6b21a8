#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# usage: papers.py
#
# Whether the documents name what there is. Each link of a Markdown file leads to a file, and to a heading
# in it. Each `path/file.c` is a file of the tree, or the end of one's path. Each path that begins with a
# directory of ours is there. Each name with one of our prefixes is in a source, and in the documents on
# our own code each `name()`. Prints what is missing.
import os
import re
import sys

os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")

SOURCES = (".c", ".h", ".S", ".sh", ".py", ".rs", ".cpp", ".hpp", ".map", ".patch", ".1", ".3", ".4")
FILE = re.compile(r"[\w*{},.+-]*(/[\w*{},.+-]+)*\.(c|h|S|sh|py|md|svg|txt|map|cpp|hpp|rs|spec|config)")
OURS = re.compile(r"(?<![\w/*.-])(_?(?:[vg]|rv)?perfctr_\w*[a-z0-9]|V?PERFCTR_\w*[A-Z0-9])(?![\w*{.-])")
PATH = re.compile(r"(?<![\w/.~<>-])((?:module|lib|tools|tests|docs|bench|examples|bindings|packaging)/[\w/.*{},-]*)")
# Files that are made, that are others', or that stand for any
OTHERS = re.compile(
    r"^(/|build/|examples/build/|arch/x86/kernel/|target/|tools/testing/)|(SUBJECT|NAME|MACHINE|ARCH|VERSION)|"
    r"^(bench/results\.json|\.config|cyrix\.c|hipe_perfctr\.c|x86/pmu\.c|pmu_\w+_test\.c)$")
# Documents on our own code
OWN = re.compile(r"docs/architecture|module/|CONTRIBUTING")


def tree():
    for top, dirs, files in os.walk("."):
        dirs[:] = [d for d in dirs if d not in ("build", ".git", "target", "__pycache__")]
        for name in files:
            yield os.path.join(top, name)[2:]


def anchors(path):
    found = set()
    for line in open(path):
        if re.match(r"#+ ", line):
            title = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(title.replace(" ", "-"))
    return found


def is_there(name, page, paths):
    """A path from the top, from the page's directory, or the end of one; * and {a,b} as in a shell"""
    if name in paths or os.path.exists(os.path.join(os.path.dirname(page), name)):
        return True
    part = re.escape(name.rstrip("/")).replace(r"\*", "[^/]*")
    part = re.sub(r"\\\{([^}]*)\\\}", lambda m: "(" + m[1].replace(",", "|") + ")", part)
    end = re.compile("(^|/)" + part + "$")
    return any(end.search(path) for path in paths) or os.path.exists(name)


def main():
    bad = 0
    paths = set(tree())
    words = set()
    for path in paths:
        if path.endswith(SOURCES + (".mk", ".spec")) or os.path.basename(path).startswith(("run-", "Makefile", "Kbuild")):
            words.update(re.findall(r"\w+", open(path, errors="replace").read()))
    pages = [path for path in paths if path.endswith(".md")]
    for page in pages:
        text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), open(page).read(), flags=re.S | re.M)
        for number, line in enumerate(text.split("\n"), 1):
            wrong = []
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                path, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not os.path.exists(path):
                    wrong.append(f"no file {target}")
                elif anchor and anchor not in anchors(path):
                    wrong.append(f"no heading {target}")
            for code in re.findall(r"`([^`]+)`", line):
                for name in code.replace("\\", "").split():
                    name = name.strip(",:;")
                    if FILE.fullmatch(name) and not OTHERS.search(name) and not is_there(name, page, paths):
                        wrong.append(f"no file {name}")
                names = re.findall(r"(?<![\w*])(\w+)\(\)", code) if OWN.match(page) else []
                names += OURS.findall(code)
                wrong += [f"no {name} in any source" for name in names if name not in words]
            bare = re.sub(r"\]\([^)]*\)|\\", "", line)
            for name in PATH.findall(bare):
                name = name.rstrip(".,")
                if not OTHERS.search(name) and not is_there(name, page, paths):
                    wrong.append(f"no path {name}")
            for what in sorted(set(wrong)):
                print(f"{page}:{number}: {what}")
                bad = 1
    if len(pages) < 20:
        print(f"only {len(pages)} pages")
        bad = 1
    return bad


sys.exit(main())
