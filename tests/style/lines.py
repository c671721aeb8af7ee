"""No line of a source file is longer than 120 characters."""
import os
import sys

SOURCE = os.environ["HOT_SOURCE"]
FOLDERS = ["bench", "cmake", "kernels", "plugin", "sample_data", "tests", "viz"]
SUFFIXES = (".c", ".h", ".inc", ".cc", ".cu", ".cuh", ".py", ".sh", ".cmake", "CMakeLists.txt")
LONGEST = 120

read, long = 0, []
for folder in FOLDERS:
    for where, folders, files in os.walk(os.path.join(SOURCE, folder)):
        here = os.path.relpath(where, SOURCE)
        for name in sorted(files):
            if not name.endswith(SUFFIXES):
                continue
            read += 1
            with open(os.path.join(where, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    length = len(line.rstrip("\n"))
                    if length > LONGEST:
                        long.append(f"{os.path.join(here, name)}:{number}: {length} characters")
if read < 100:
    long.append(f"only {read} files were found in {SOURCE}")
print("\n".join(long) if long else f"{read} files")
sys.exit(bool(long))
