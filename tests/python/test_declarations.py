"""The ctypes declarations against the compiler: sizes and offsets of all fields of all structs, values of all
constants, every function and its number of parameters."""
import ctypes
import inspect
import os
import re
import shutil
import subprocess
import sys

import hotfiber._declarations as declared
from hotfiber._library import lib

from cli import check, end

compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
if not compiler:
    print("skipped: no C compiler")
    sys.exit(77)
source = os.environ["HOT_SOURCE"]
structs = {name: kind for name, kind in vars(declared).items()
           if inspect.isclass(kind) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure}
constants = {name: value for name, value in vars(declared).items() if name.startswith("HOT_")}
headers = ["hotfiber/hotfiber.h", "hotfiber/heev.h", "hotfiber/tridiag.h", "hotfiber/contract.h", "hotfiber/fem.h",
           "hotfiber/cpd.h", "callbacks.h", "data.h"]
lines = ["#include <stddef.h>", "#include <stdio.h>"] + [f"#include <{name}>" for name in headers] + \
    ["int main(void) {"]
wanted = {}
for name, kind in structs.items():
    lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    wanted[name] = ctypes.sizeof(kind)
    for field, *_ in kind._fields_:
        member = f"{name}.{field}"
        lines.append(f'printf("{member} %zu\\n", offsetof({name}, {field}) * 1000 + sizeof((({name} *)0)->{field}));')
        wanted[member] = getattr(kind, field).offset * 1000 + getattr(kind, field).size
for name in constants:
    lines.append(f'printf("{name} %d\\n", (int){name});')
lines += ["return 0; }"]
with open("all.c", "w") as file:
    file.write("\n".join(lines))
folders = ["kernels/include", "plugin/include", "plugin/python"]
subprocess.run([compiler, "-std=gnu11", "-o", "all", "all.c"] + [f"-I{source}/{folder}" for folder in folders],
               check=True)
told = {name: int(value) for name, value in
        (line.split() for line in subprocess.check_output("./all", text=True).splitlines())}
check(len(structs) > 25 and len(constants) > 60, f"{len(structs)} structs, {len(constants)} constants")
for name, value in {**wanted, **constants}.items():
    check(told[name] == value, f"{name} is {told[name]} to the compiler, {value} to ctypes")

# Functions: those of the headers, preprocessed by the compiler, and their numbers of parameters.
text = subprocess.check_output([compiler, "-E", "-P", "all.c"] + [f"-I{source}/{folder}" for folder in folders],
                               text=True)
prototypes = {name: arguments for name, arguments in
              re.findall(r"visibility\(\"default\"\)\)\)[^;(]*?\b(hot_\w+)\(([^;]*)\)", text)}
for name, arguments in prototypes.items():
    if "..." in arguments:
        continue
    count = 0 if arguments.strip() == "void" else arguments.count(",") + 1
    check(name in declared.FUNCTIONS and len(declared.FUNCTIONS[name][1]) == count, f"{name} has {count} parameters")
check(len(prototypes) > 150 and set(declared.FUNCTIONS) <= set(prototypes), f"{len(prototypes)} functions")
missing = []
for name in declared.FUNCTIONS:
    try:
        getattr(lib, name)
    except AttributeError:
        missing.append(name)
check(not missing, f"the library has no {missing}")
end()
