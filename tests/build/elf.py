"""elf.py FILE|FOLDER...: checks that every program and shared library may be shipped. Faults are a search for libraries
in an empty, relative or writable folder, or in one of the build; an executable stack; and in hardened builds, writable
relocations, late binding, a program at a fixed address, a missing stack protector.

--build FOLDER: no element may be inside it, except relative to $ORIGIN.
--theirs PATTERN: files of others, of which only the paths and the stack are checked.
HOT_HARDENED: the hardening of our build, of "link", "stack" and "fortify" (cmake/HotfiberSettings.cmake)."""
import fnmatch
import os
import re
import stat
import subprocess
import sys

LARGE = 100000  # bytes: a smaller one need not have an array on its stack, or one that is copied to


def elf_files(places):
    for place in places:
        found = [place]
        if os.path.isdir(place):
            found = [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]
        for path in sorted(found):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    start = file.read(18)
                if start[:4] == b"\x7fELF" and start[16] in (2, 3):  # programs and shared libraries; little-endian
                    yield path


def readelf(path):
    return subprocess.run(["readelf", "-W", "-l", "-d", "--dyn-syms", path], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}).stdout


def writable(folder):
    """Whether others may put files in this folder, or create it."""
    folder = os.path.normpath(folder)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return bool(os.stat(folder).st_mode & stat.S_IWOTH)


def paths_wrong(path, text, build):
    for kind, elements in re.findall(r"\((RPATH|RUNPATH)\).*?\[(.*)\]", text):
        for element in elements.split(":"):
            says = f"{kind} [{elements}]"
            if not element:
                yield f"{says}: an empty element, which is the current folder"
                continue
            here = re.fullmatch(r"\$(?:ORIGIN|\{ORIGIN\})(/.*)?", element)
            if not here and not element.startswith("/"):
                yield f"{says}: '{element}' is relative to the current folder"
                continue
            folder = os.path.dirname(os.path.abspath(path)) + (here.group(1) or "") if here else element
            if writable(folder):
                yield f"{says}: others may write in '{element}'"
            if build and not here and (folder + "/").startswith(build + "/"):
                yield f"{says}: '{element}' is of the build"
    for name in re.findall(r"\(NEEDED\).*?\[(.*)\]", text):
        if "/" in name and not name.startswith("/"):
            yield f"needs '{name}', which is relative to the current folder"


def stack_wrong(text):
    stack = re.search(r"GNU_STACK .*? (R\S*)\s", text)
    if not stack or "E" in stack.group(1):
        yield "the stack is executable"


def hardening_missing(path, text, wanted):
    if "link" in wanted:
        if not re.search(r"^ *GNU_RELRO ", text, re.M):
            yield "relocations stay writable (no GNU_RELRO)"
        if not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", text):
            yield "calls are bound late (no BIND_NOW)"
        if re.search(r"^Elf file type is EXEC", text, re.M):
            yield "loaded at a fixed address (no PIE)"
    if os.path.getsize(path) < LARGE or "libhotview_cuda" in path:  # that is nvcc's, and CUDA's runtime
        return
    if "stack" in wanted and not re.search(r" UND __stack_chk_fail", text):
        yield "nothing checks the stack (no __stack_chk_fail)"
    if "fortify" in wanted and "libc.so.6" in text and not re.search(r" UND __\w+_chk\b", text):
        yield "no fortified function (__*_chk)"


def main(arguments):
    build, theirs, places = None, [], []
    wanted = os.environ.get("HOT_HARDENED", "").split()
    while arguments:
        word = arguments.pop(0)
        if word == "--build":
            build = os.path.realpath(arguments.pop(0))
        elif word == "--theirs":
            theirs.append(arguments.pop(0))
        else:
            places.append(word)
    seen = failed = 0
    for path in elf_files(places):
        seen += 1
        text = readelf(path)
        wrong = list(paths_wrong(path, text, build)) + list(stack_wrong(text))
        if not any(fnmatch.fnmatch(path, pattern) for pattern in theirs):
            wrong += hardening_missing(path, text, wanted)
        for line in dict.fromkeys(wrong):
            print(f"{path}: {line}")
        failed += bool(wrong)
    if not seen:
        print("no program and no shared library in", *places)
    print(f"{seen} ELF files, {failed} wrong")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
