"""fibers() has the options of `hotfiber run`: every row of plugin/run/options.inc that decides a result is an argument,
with the same words and defaults, and its documentation names it; and every argument is such a row."""
import inspect
import os
import re
import typing

import hotfiber
import hotfiber._types as types

from cli import check, end

with open(os.path.join(os.environ["HOT_SOURCE"], "plugin/run/options.inc"), encoding="utf-8") as file:
    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
SECTIONS = dict(re.findall(r"#ifdef HOT_OPTIONS_(\w+)\n(.*?)#endif", text, re.DOTALL))
rows = {}
for section, lines in SECTIONS.items():
    if section == "FILES":  # where a run reads and writes
        continue
    for kind, row in re.findall(r"^([A-Z]\w*)\((.*?)\)(?:\n(?=[A-Z#])|\n*\Z)", lines, re.DOTALL | re.MULTILINE):
        if kind == "MEMBER":
            continue
        words = [word.strip(' "') for word in row.split(",")]
        rows[words[3 if kind == "PAIR" else 2]] = kind, row
check(len(rows) > 25, f"the list is read: {sorted(rows)}")

# Where Python has a better name, or one argument for several.
NAMES = {"known_b0": "estimate_s0", "weights": "weighted", "diffusivities": "response", "bval": "gradients",
         "bvec": "gradients", "grad": "gradients"}
OWN = {"data", "affine", "frame", "device", "threads", "seed", "progress", "cones"}  # no rows: data in memory, context
arguments = inspect.signature(hotfiber.fibers).parameters
named = {NAMES.get(name, name) for name in rows}
check(named | OWN == set(arguments), f"without an argument: {sorted(named - set(arguments))}; without a row: "
      f"{sorted(set(arguments) - named - OWN)}")
for name in arguments:
    check(re.search(rf"\b{name}\b", hotfiber.fibers.__doc__), f"{name}: the documentation names it")

for name, kind in (("model", types.Model), ("method", types.Method), ("constraint", types.Constraint),
                   ("kernel", types.Kernel), ("noise_model", types.NoiseModel)):
    words = re.findall(r"\b[FE]\((\w+)\)", rows[name][1])
    default = re.search(r'"(\w+)", "[A-Z]', rows[name][1])[1]
    missing = {"auto"} if name == "method" else set()  # None
    check(set(words) - missing == set(typing.get_args(kind)), f"{name}: {words} and {typing.get_args(kind)}")
    ours = arguments[name].default
    check(default == ours or (ours is None and default in ("auto", "fod")), f"{name}: {default} and {ours}")
for name, (kind, _) in rows.items():
    default = arguments[NAMES.get(name, name)].default
    if name in ("known_b0", "weights"):
        check(default is (name == "weights"), f"{name}: {default}")
    elif kind == "FLAG":
        check(default is False, f"{name}: {default}")
    elif kind == "NUMBER" and name not in ("min_probability", "max_cone"):
        check(default is None, f"{name}: {default}")
    elif kind in ("COUNT", "NUMBER") or name in ("order", "samples"):
        check(default == 0, f"{name}: {default}")
end()
