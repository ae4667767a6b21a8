"""
bb.py RECIPE VARIABLE=VALUE... -- NAME...

Reads a recipe of OpenEmbedded as far as ours go, without bitbake, which Debian has not. Prints a shell
script: the variables NAME, and the recipe's functions. The values are those of bitbake.conf that
the recipe uses. What it does not know, it takes for misspelt.
"""
import hashlib
import os
import re
import sys

KNOWN = """SUMMARY HOMEPAGE PERFCTR_URL LICENSE LIC_FILES_CHKSUM SRC_URI S B COMPATIBLE_HOST DEPENDS
           EXTRA_OEMAKE FILES:${PN} RRECOMMENDS:${PN} KERNEL_MODULE_AUTOLOAD""".split()
CLASSES = "pkgconfig", "module"


def fail(text):
    sys.exit(f"{recipe}: {text}")


recipe, *rest = sys.argv[1:]
between = rest.index("--")
variables = dict(word.split("=", 1) for word in rest[:between])
variables["PN"], variables["PV"] = os.path.basename(recipe).removesuffix(".bb").split("_")
functions = {}
inherited = []

text = open(recipe).read().replace("\\\n", "\0")
lines = iter(text.splitlines())
for line in lines:
    whole = line.replace("\0", " ")
    if not line or line.startswith("#"):
        continue
    if m := re.fullmatch(r"inherit (.+)", whole):
        inherited += m[1].split()
    elif m := re.fullmatch(r"(do_[a-z]+)\(\) \{", whole):
        body = []
        while (line := next(lines, None)) != "}":
            body.append(line if line is not None else fail(f"{m[1]} does not end"))
        functions[m[1]] = "\n".join(body).replace("\0", "\\\n")
    elif m := re.fullmatch(r'([A-Z_]+(?::\$\{PN\})?) (\?|\+)?= "([^"]*)"', whole):
        name, how, value = m.groups()
        if name not in KNOWN:
            fail(f"what is {name}?")
        if how == "+":
            value = f"{variables.get(name, '')} {value}"
        if how != "?" or name not in variables:
            variables[name] = value
    else:
        fail(f"cannot read: {whole}")

for name in inherited:
    if name not in CLASSES:
        fail(f"what is the class {name}?")
for name in "SUMMARY", "LICENSE", "LIC_FILES_CHKSUM", "SRC_URI", "S":
    if name not in variables:
        fail(f"no {name}")


def expand(value):
    def one(m):
        if m[1] not in variables:
            fail(f"{m[1]} has no value")
        return expand(variables[m[1]])
    return re.sub(r"\$\{([^}]*)\}", one, value)


for word in expand(variables["LIC_FILES_CHKSUM"]).split():
    path, *options = word.removeprefix("file://").split(";")
    options = dict(o.split("=") for o in options)
    content = open(os.path.join(expand("${S}"), path), "rb").read()
    if "beginline" in options:
        content = b"".join(content.splitlines(True)[int(options["beginline"]) - 1:int(options["endline"])])
    if hashlib.md5(content).hexdigest() != options["md5"]:
        fail(f"{path} has another md5")

for name in rest[between + 1:]:
    print(f"{name.split(':')[0]}='{expand(variables[name])}'")
print(f"inherited='{' '.join(inherited)}'")
for name, body in functions.items():
    print(f"{name}() {{\n{expand(body)}\n}}")
