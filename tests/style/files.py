"""No source file is longer than 600 lines, and the guard of an installed header is named after its file."""
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
FOLDERS = ["bench", "cmake", "kernels", "plugin", "tests", "viz"]
CODE = (".c", ".h", ".inc", ".cc", ".cu", ".cuh", ".S", ".py", ".sh", ".cmake", "CMakeLists.txt")
LONGEST = 600

read, wrong = 0, []
for folder in FOLDERS:
    for where, _, files in os.walk(os.path.join(SOURCE, folder)):
        for name in sorted(files):
            if not name.endswith(CODE):
                continue
            path = os.path.relpath(os.path.join(where, name), SOURCE)
            with open(os.path.join(where, name), encoding="utf-8") as file:
                text = file.read()
            read += 1
            lines = text.count("\n")
            if lines > LONGEST:
                wrong.append(f"{path}: {lines} lines")
            if not name.endswith((".h", ".cuh")):
                continue
            # Headers of the tree have #pragma once; a template that is included several times has neither.
            guard = re.match(r"(?:\s*/\*.*?\*/\s*)*#ifndef (\w+_(?:H|CUH))\n#define \1\n", text, re.DOTALL)
            stem = re.sub(r"\W", "_", name.rsplit(".", 1)[0]).upper()
            if guard and not re.search(f"(^|_){stem}_(H|CUH)$", guard.group(1)):
                wrong.append(f"{path}: the guard is {guard.group(1)}")
if read < 100:
    wrong.append(f"only {read} files were found in {SOURCE}")
print("\n".join(wrong) if wrong else f"{read} files")
sys.exit(bool(wrong))
