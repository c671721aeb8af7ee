"""Whether two runs have left the same."""
import json

from cli import *


def report(folder):
    """report.json but for what no two runs have in common."""
    found = json.load(open(f"{folder}/report.json"))
    for name in ("seconds", "peak_memory", "device", "input"):
        found.pop(name)
    found["log"] = [line for line in found["log"] if "GPU" not in line["text"]] # said when one would first be used
    return found


def same(one, two, what):
    names = [sorted(os.path.relpath(path, folder) for path in tree(folder) if os.path.isfile(path))
             for folder in (one, two)]
    check(names[0] == names[1], f"{what}: files {set(names[0]) ^ set(names[1])}")
    for name in set(names[0]) & set(names[1]) - {"report.json", "report.html"}:
        check(open(f"{one}/{name}", "rb").read() == open(f"{two}/{name}", "rb").read(), f"{what}: {name} differs")
    check(report(one) == report(two), f"{what}: reports differ")
