"""Public functions depend on no locale, floating-point environment or threads of their process (common/entry.h): those
that compute, format numbers or touch files begin with HOT_ENTRY, every parallel region asks hot_team for its threads,
and nobody else changes the locale or the environment."""
import os
import re
import sys

SOURCE = os.environ["HOT_SOURCE"]
HEADERS = ("kernels/include/hotfiber", "plugin/include/hotfiber", "viz/include/hotfiber")
SOURCES = ("kernels", "plugin", "viz")
OURS = ("kernels/common/entry.c", "kernels/common/team.c", "kernels/common/entry.h")
# With a context, but they neither compute nor format numbers: what a context is and has, memory, ends.
PLAIN = re.compile(r"hot_context_(create|destroy|message|parameter|cancel|cancelled|threads|device|device_number|"
                   r"device_used|seed|alloc|calloc|free|progress|check|memory|set_memory|wait|confine|"
                   r"confined|resume)$|.*_(destroy|free)$")
# Without a context, and they do.
OTHERS = ("hot_starts_random", "hot_starts_even", "hot_sh_values_f64", "hot_score_mean", "hot_fiber_field_segments",
          "hot_glyphs_surface", "hot_export_format_find")

trouble = []


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)


def read(folders, suffixes):
    for folder in folders:
        for path, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    full = os.path.join(path, name)
                    with open(full, encoding="utf-8") as file:
                        yield os.path.relpath(full, SOURCE), without_comments(file.read())


wanted = set(OTHERS)
for _, text in read(HEADERS, (".h",)):
    for name, given in re.findall(r"HOT_API\s[^;{(]*?\b(hot_\w+)\(([^;{]*?)\)", text):
        if "hot_context *context" in given and not PLAIN.match(name):
            wanted.add(name)
with open(os.path.join(SOURCE, "plugin/io/common/formats.h"), encoding="utf-8") as listed:
    wanted |= set(re.findall(r"\bhot_write_\w+", listed.read()))

guarded, regions = set(), 0
for path, text in read(SOURCES, (".c", ".cu", ".cc", ".h", ".cuh", ".inc")):
    for name, first in re.findall(r"^[a-z][^\n;{}()=#]*\b(hot_\w+)\([^;{}]*?\)\s*\{\s*([^\n]*)", text, re.M):
        if name in wanted and first.startswith("HOT_ENTRY("):
            guarded.add(name)
    if "HOT_ENTRY(context);" in text:  # a macro that makes several
        for lead, list_of in re.findall(r"hot_status (hot_\w+_)##(NAME)\(", text):
            guarded |= {lead + one for one in re.findall(r"^MAP\((\w+)\)", text, re.M)}
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*#\s*pragma omp parallel", line) and path not in OURS:
            regions += 1
            if "num_threads(hot_team(" not in line:
                trouble.append(f"{path}:{number}: a region without num_threads(hot_team(...))")
        call = re.search(r"\b(setlocale|uselocale|newlocale|fesetenv|feholdexcept|fesetround|feenableexcept|"
                         r"_mm_setcsr|omp_set_num_threads)\s*\(", line)
        if call and path not in OURS:
            trouble.append(f"{path}:{number}: {call.group(1)}: that is the business of common/entry.c")

trouble += [f"{name} does not begin with HOT_ENTRY" for name in sorted(wanted - guarded)]
if len(wanted) < 120 or regions < 60:
    trouble.append(f"only {len(wanted)} functions and {regions} regions are seen")
for line in trouble:
    print(line)
sys.exit(bool(trouble))
