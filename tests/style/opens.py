"""All input goes through one gate, plugin/io/common/file_open.c, which checks for devices, pipes and sizes: no other
code of plugin and viz opens a file for reading, or reads standard input. Exceptions (output files, folders, system
files) are listed here with their reason."""
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
CALL = re.compile(r"(?<![\w.>])(fopen|fdopen|freopen|open|openat|open64|gzopen|gzdopen|popen|mmap|nrrdLoad"
                  r"|nifti_image_read|znzopen|H5Fopen|getline|getdelim|tmpfile|creat)\(|(?<!\w)stdin(?!\w)|ifstream")
EXCEPTIONS = {
    "plugin/io/common/file_open.c": "the gate",
    "plugin/core/memory.c": "/proc and the control groups, the system's own",
    "plugin/io/common/output.c": "written", "plugin/io/common/temporary.c": "written",
    "plugin/io/common/temporary_folder.c": "folders",
    "plugin/run/folder.c": "folders",
    "plugin/run/resume.c": "written, and its own folder locked",
    "plugin/module/example_host.c": "an example, which reads its own files",
    "viz/window/window_dump.c": "written",
    "viz/scene/recent.c": "written",
}

read, wrong, used = 0, [], set()
for folder in ("plugin", "viz"):
    for where, _, files in os.walk(os.path.join(SOURCE, folder)):
        for name in sorted(files):
            if not name.endswith((".c", ".h", ".inc", ".cc", ".cu", ".cuh")):
                continue
            path = os.path.relpath(os.path.join(where, name), SOURCE)
            read += 1
            with open(os.path.join(where, name), encoding="utf-8") as file:
                text = re.sub(r'"(\\.|[^"\\\n])*"', '""', file.read())
            text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
            for number, line in enumerate(text.split("\n"), 1):
                found = CALL.search(line)
                if found and path in EXCEPTIONS:
                    used.add(path)
                elif found:
                    wrong.append(f"{path}:{number}: {found.group()}: input must go through hot_file_open")
wrong += [f"{path} is an exception and needs none" for path in EXCEPTIONS if path not in used]
if read < 100:
    wrong.append(f"only {read} files were found in {SOURCE}")
print("\n".join(wrong) if wrong else f"{read} files")
sys.exit(bool(wrong))
