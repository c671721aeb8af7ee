"""Every folder includes only what its line of includes.txt lists, and no two files call each other but those listed."""
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "includes.txt")
TOPS = ("kernels", "plugin", "viz", "bench")
SUFFIXES = (".c", ".h", ".inc", ".cc", ".cu", ".cuh")
BASES = ("kernels", "plugin", "viz", "", "tests")  # in addition to the file's own folder
GENERATED = ("logo.inc",)
HOST = "plugin/module/scirun"  # compiled within another program

trouble = []


def read_rules():
    """What each folder may include, who may include which library, and the accepted circles."""
    folders, libraries, circles = {}, {}, set()
    last = None  # the list that an indented line continues
    with open(RULES, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if line[0] == " " and last is not None:
                last += words
            elif words[0] == "circle":
                circles.add(frozenset(words[1:]))
            elif words[0].startswith("<"):
                last = libraries[words[0].rstrip(":").strip("<>")] = words[1:]
            elif words[0].endswith(":") and words[0][:-1] not in folders:
                last = folders[words[0][:-1]] = words[1:]
            else:
                trouble.append(f"includes.txt:{number}: '{line.strip()}' is no rule, or the second for its folder")
    return folders, libraries, circles


def folder_of(path):
    """The folder that a file counts for."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[:2]) if parts[0] == "kernels" else "tests" if parts[0] == "tests" else "/".join(parts)


def find(name, path):
    """The file that an include of `name` in `path` means."""
    for base in (os.path.dirname(path),) + BASES:
        candidate = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(SOURCE, candidate)):
            return candidate
    return None


def may(folder, allowed):
    return folder in allowed or any(rule.endswith("/*") and folder.startswith(rule[:-1]) for rule in allowed)


def calling_pairs():
    """Pairs of source files that call each other: each uses a hot_ function that the other defines."""
    defines = re.compile(r'(?m)^(?!static|typedef|template|HOT_FN)[A-Za-z_][\w *"]*?\b(hot_\w+)\([^;{}]*\)\s*\{')
    texts, owner = {}, {}
    for top in TOPS:
        for where, _, names in os.walk(os.path.join(SOURCE, top)):
            for name in names:
                if name.endswith((".c", ".cc", ".cu")):
                    path = os.path.relpath(os.path.join(where, name), SOURCE)
                    with open(os.path.join(where, name), encoding="utf-8") as file:
                        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", file.read(), flags=re.S)
                    texts[path] = set(re.findall(r"\bhot_\w+", text))
                    for function in defines.findall(text):
                        owner.setdefault(function, set()).add(path)
    calls = {(path, other) for path, words in texts.items() for word in words & owner.keys()
             for other in owner[word] if path not in owner[word]}
    return {frozenset(pair) for pair in calls if pair[::-1] in calls}, len(owner)


folders, libraries, circles = read_rules()
unused = {(folder, other) for folder in folders for other in folders[folder]}
unused_libraries = {(library, folder) for library in libraries for folder in libraries[library]}
read, edges = 0, set()
for top in TOPS:
    for where, _, names in os.walk(os.path.join(SOURCE, top)):
        here = os.path.relpath(where, SOURCE)
        sources = sorted(name for name in names if name.endswith(SUFFIXES))
        if here == HOST or "/include" in here:
            continue
        for name in sources:
            path = f"{here}/{name}"
            folder = folder_of(path)
            if folder not in folders:
                trouble.append(f"{path}: no line of includes.txt is for the folder {folder}")
                break
            read += 1
            with open(os.path.join(where, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    include = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
                    if not include:
                        continue
                    place, header = f"{path}:{number}", include.group(2)
                    if include.group(1) == "<":
                        for library, users in libraries.items():
                            if not header.startswith(library):
                                continue
                            if not may(folder, users):
                                trouble.append(f"{place}: {folder} may not include <{header}>; "
                                               f"the rule is <{library}>: {' '.join(users)}")
                            unused_libraries -= {(library, user) for user in users if may(folder, [user])}
                        continue
                    target = find(header, path)
                    if not target:
                        if header not in GENERATED:
                            trouble.append(f'{place}: "{header}" is not there')
                        continue
                    other = folder_of(target)
                    if other == folder:
                        continue
                    edges.add((folder, other))
                    unused.discard((folder, other))
                    if other not in folders[folder]:
                        trouble.append(f'{place}: {folder} may not include "{header}" of {other}; '
                                       f"the rule is {folder}: {' '.join(folders[folder])}")

trouble += [f"includes.txt: nothing in {folder} includes {other}" for folder, other in sorted(unused)]
trouble += [f"includes.txt: nothing in {folder} includes <{library}>" for library, folder in sorted(unused_libraries)]
trouble += [f"includes.txt: the folder {folder} is not there" for folder in folders
            if not os.path.isdir(os.path.join(SOURCE, folder))]
pairs, functions = calling_pairs()
if functions < 500:
    trouble.append(f"only {functions} functions were found in {SOURCE}")
found = {frozenset(edge) for edge in edges if edge[::-1] in edges} | pairs
trouble += [f"{' and '.join(sorted(circle))} use each other" for circle in found - circles]
trouble += [f"includes.txt: {' and '.join(sorted(circle))} do not use each other" for circle in circles - found]
if read < 100:
    trouble.append(f"only {read} files were found in {SOURCE}")
print("\n".join(trouble) if trouble else f"{read} files, {len(edges)} pairs of folders")
sys.exit(bool(trouble))
