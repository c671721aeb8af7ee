"""Files and functions that CONTRIBUTING.md names exist: a function of a drawing or of a row is defined in the file that
stands beside it."""
import collections
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
TOPS = ("kernels", "plugin", "viz", "bench", "tests", "cmake", "docs")
SUFFIX = r"\.(?:c|h|inc|cu|cuh|cc|py|txt|cmake|map|md|S|sh)"
FILE = re.compile(r"[\w./-]*\w" + SUFFIX + r"(?![\w.])")
# a function, HOT_X(name)( of a template, Python's def, a macro, a struct, a table or a constant
DEFINED = (r"(?m)\b{0}\([^;{{}}]*\)\s*\{{|{0}\)\(|^\s*(?:def|class) {0}\b|^\s*#\s*define {0}\b|^\}}\s*{0};"
           r"|struct {0} \{{|^[\w ]*\b{0}(?:\[\w*\])?\s*=")

files = collections.defaultdict(list)
for top in TOPS:
    for where, _, names in os.walk(os.path.join(SOURCE, top)):
        for name in names:
            files[name].append(os.path.relpath(os.path.join(where, name), SOURCE))
texts, wrong, checked = {}, [], 0


def text_of(path):
    if path not in texts:
        with open(os.path.join(SOURCE, path), encoding="utf-8", errors="replace") as file:
            texts[path] = file.read()
    return texts[path]


def resolve(name):
    """The files that a path, whole or only its end, may mean."""
    return [path for path in files[os.path.basename(name)] if ("/" + path).endswith("/" + name)]


def defines(path, name):
    return re.search(DEFINED.format(name), text_of(path)) is not None


def check(number, line, names):
    """That each name is defined in one of the line's files."""
    global checked
    meant = []
    for file in FILE.findall(line):
        if re.search("NAME|PROGRAM|NNN", file):
            continue
        checked += 1
        found = resolve(file)
        if not found:
            wrong.append(f"CONTRIBUTING.md:{number}: no file {file}")
        meant += found
    for name in names:
        checked += 1
        if meant and not any(defines(path, name) for path in meant):
            wrong.append(f"CONTRIBUTING.md:{number}: {name} is not in {' or '.join(meant)}")


with open(os.path.join(SOURCE, "CONTRIBUTING.md"), encoding="utf-8") as page:
    for number, line in enumerate(page, 1):
        drawn = re.match(r" {4,}((?:\w+(?:, | -> )?)+?) {2,}(\S.*)", line)
        if drawn and FILE.search(drawn.group(2)):
            check(number, drawn.group(2), [name for name in re.findall(r"\w+", drawn.group(1))])
        elif line.startswith("| ") and "`" in line:
            quoted = re.findall(r"`([^`]+)`", line)
            check(number, " ".join(quoted),
                  [word for word in quoted if re.fullmatch(r"[a-z]\w*_\w+|HOT_[A-Z_]+", word)])
if checked < 150:
    wrong.append(f"only {checked} names were found")
print("\n".join(wrong) if wrong else f"{checked} names")
sys.exit(bool(wrong))
