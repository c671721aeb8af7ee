"""Words that were replaced (CONTRIBUTING: terms) do not come back. Each is a whole word of the code or of a comment,
case ignored, in the folders named; a file that must say it is an exception."""
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
EVERYWHERE = ("bench", "cmake", "kernels", "plugin", "tests", "viz")
CODE = (".c", ".h", ".inc", ".cc", ".cu", ".cuh", ".S", ".py", ".sh", ".cmake", "CMakeLists.txt")
# word (a regular expression), what to say instead, where, exceptions
TERMS = [
    (r"min_relief", "min_relative_range", EVERYWHERE, ()),
    (r"hot_feed\w*", "hot_batch_pipeline", EVERYWHERE, ()),
    (r"cuda_feed", "batch_pipeline", EVERYWHERE, ()),
    (r"HOT_CHART", "gnomonic", ("kernels",), ()),
    (r"make_room", "reserve", ("viz",), ()),
    (r"uint8_t \*skip", "mask", ("kernels", "plugin", "viz"), ()),
    (r"(dn|lr|lt|td)_(plan|args|step|row)", "the family's name as prefix", ("kernels",), ()),
    (r"hot_output_spares", "check_distinct", EVERYWHERE, ()),
]

read, wrong = 0, []
for folder in EVERYWHERE:
    for where, _, files in os.walk(os.path.join(SOURCE, folder)):
        for name in sorted(files):
            path = os.path.relpath(os.path.join(where, name), SOURCE)
            if not name.endswith(CODE) or path == "tests/style/terms.py":
                continue
            read += 1
            with open(os.path.join(where, name), encoding="utf-8") as file:
                lines = file.read().split("\n")
            for word, instead, folders, exceptions in TERMS:
                if folder not in folders or path in exceptions:
                    continue
                pattern = re.compile(rf"(?<!\w){word}(?!\w)", re.IGNORECASE)
                wrong += [f"{path}:{number}: '{found.group()}' is '{instead}' here"
                          for number, line in enumerate(lines, 1) for found in [pattern.search(line)] if found]
if read < 100:
    wrong.append(f"only {read} files were found in {SOURCE}")
print("\n".join(wrong) if wrong else f"{read} files")
sys.exit(bool(wrong))
