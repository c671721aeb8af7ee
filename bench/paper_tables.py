"""The tables and plots of docs/papers.md, from what `hotfiber bench paper --json` printed.

    python3 bench/paper_tables.py                  # bench/results/paper_cpu.json and paper_gpu.json into the page
    python3 bench/paper_tables.py --check          # ends with 1 if the page or a plot is not what they give
    python3 bench/paper_tables.py --print FILE.json # the tables of one measurement
    python3 bench/paper_tables.py --merge OUT.json PART.json ... # one measurement of parts; unreadable ones are named

A table stands between the comments `<!-- rows: PAPER -->` and `<!-- end -->`; plots are docs/static/paper_PAPER.svg.
Needs Python alone."""
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "papers.md")
PLOTS = os.path.join(ROOT, "docs", "static")
RESULTS = [os.path.join(ROOT, "bench", "results", name) for name in ("paper_gpu.json", "paper_cpu.json")]
PAPERS = ["Ballard", "Cosnuau", "Lessig", "Abdelfattah", "Liu"]
# Nominal peaks of the papers' processors, in the unit that limits their computation. 180 GB/s is the bandwidth
# that the paper states for its K40c; by the other paper, each core has 22.4 GFLOP/s.
NOMINAL = {"Tesla C2050": ("FP32, TFLOP/s", 1.03), "one core of a Nehalem": ("FP32, TFLOP/s", .0224),
           "eight cores, Nehalem": ("FP32, TFLOP/s", .1792), "Fermi M2070": ("FP64, TFLOP/s", .515),
           "K20": ("FP64, TFLOP/s", 1.17), "K40c, derived": ("copy, GB/s", 180)}
# Plots: which cases, and the abscissa, which is the pattern's group.
AXES = {"Ballard": (r"(?:III|figure 5): ([0-9,]+) tensors, (?:50 steps|(?P<paper>to the stop))",
                    "tensors of order 4, 128 starts, 50 steps"),
        "Cosnuau": (r"table 2: (\d+) x 180", "n of 180 complex double matrices, values and vectors"),
        "Lessig": (r"n ([0-9,]+),", "n of a tridiagonal matrix, all eigenvalues"),
        "Abdelfattah": (r"figure 3: 100,000 of (\d+) x", "n of 100,000 products n x n, double"),
        "Liu": (r"figure 3: side (\d+), mode 1", "side of a cube, MTTKRP mode 1, rank a tenth")}
COLOURS = ["#c03020", "#2060b0", "#208040", "#c08000", "#704090", "#008090", "#805030", "#606060"]


def times(ratio):
    """A ratio with two digits; all of its digits from 100 on."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"


def duration(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 1000 else f"{seconds * scale:,.0f} {unit}"
    return None


def ours(row):
    return row["backend"].split(",")[0] in ("cuda", "cpu")


def last(backend):
    return backend.split(", ")[-1]


def cases(rows, paper):
    """Name and rows of each case, in the order of the measurement."""
    found = {}
    for row in rows:
        if row["name"].startswith(paper + ", "):
            found.setdefault(row["name"][len(paper) + 2:], []).append(row)
    return found


def peers_of(row, rows):
    """Peers of one of our rows: those of the same kind (TF32, a stop); for the first row also those of no kind."""
    mine = [one for one in rows if ours(one)]
    kinds = {last(one["backend"]) for one in mine}
    for one in rows:
        if not ours(one) and (last(one["backend"]) == last(row["backend"]) or
                              row is mine[0] and last(one["backend"]) not in kinds):
            yield one


def kind_of(row, threads):
    """The difference between rows of one case, in brackets."""
    kind = "" if row["backend"] in ("cuda", "cpu") else row["backend"].split(", ", 1)[1]
    return "" if kind in ("", f"{threads} thread" + "s" * (threads > 1)) else f" ({kind})"


def hardware(row, machine):
    unit, nominal = NOMINAL.get(row.get("paper_card", ""), (None, 1))
    return f"{machine[unit] / nominal:.3g}" if unit in machine else "-"


def table(measured, paper):
    machine = next((row for row in measured["rows"] if row["name"] == "this machine"), {})
    lines = ["| case | hotfiber | paper | ratio | by hardware | floor | peers (their time over ours) |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, rows in cases(measured["rows"], paper).items():
        for row in (one for one in rows if ours(one) and "seconds" in one):
            seconds, stated = row["seconds"], row.get("paper_seconds")
            kind = kind_of(row, measured["machine"]["threads"])
            peers = [f"{one['backend']} {duration(one['seconds'])} ({times(one['seconds'] / seconds)})"
                     if "seconds" in one else f"{one['backend']}: {one['missing']}" for one in peers_of(row, rows)]
            floor = row.get("floor_seconds")
            lines.append(f"| {name}{kind} | {duration(seconds)} | "
                         f"{duration(stated) + ' (' + row['paper_card'] + ')' if stated else '-'} | "
                         f"{f'{stated / seconds:.3g}' if stated else '-'} | "
                         f"{hardware(row, machine) if stated else '-'} | "
                         f"{duration(floor) if floor else '-'} | {'; '.join(peers) or '-'} |")
    return lines if len(lines) > 2 else []


def heading(measured):
    machine = measured["machine"]
    what = machine.get("gpu") or f"{machine['processor']}, {machine['threads']} thread" + "s" * (machine["threads"] > 1)
    return f"**{what}**, {measured['date']}, version {measured['version']}"


def missing(measured):
    return sorted({f"{row['backend']}: {row['missing']}" for row in measured["rows"]
                   if row["name"] == "peers in Python" and "missing" in row})


def curves(measured, paper):
    """backend -> points (abscissa, seconds), with the paper's and the floor's."""
    pattern, _ = AXES[paper]
    found = {}
    for name, rows in cases(measured["rows"], paper).items():
        at = re.search(pattern, name)
        for row in rows if at else []:
            x = float(at.group(1).replace(",", ""))
            for label, key in ((row["backend"], "seconds"), ("paper", "paper_seconds"), ("floor", "floor_seconds")):
                if at.groupdict().get("paper") and label != "paper":
                    continue
                if row.get(key) and not (label == "floor" and not ours(row)):
                    found.setdefault(label, {}).setdefault(x, row[key])  # of several rows the first
    return {label: sorted(points.items()) for label, points in found.items()}


def ticks(low, high):
    return [10. ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def plot(measured, paper):
    """An SVG with both axes logarithmic; None without points."""
    lines = curves(measured, paper)
    if not lines:
        return None
    wide, high, left, right, top, bottom = 640, 360, 62, 200, 30, 44
    xs = sorted({x for points in lines.values() for x, _ in points})
    levels = ticks(min(y for points in lines.values() for _, y in points),
                   max(y for points in lines.values() for _, y in points))
    low, far = math.log(xs[0]), math.log(xs[-1]) - math.log(xs[0]) or 1
    deep, tall = math.log(levels[0]), math.log(levels[-1]) - math.log(levels[0]) or 1

    def place(x, y):
        return (left + (math.log(x) - low) / far * (wide - left - right),
                high - bottom - (math.log(y) - deep) / tall * (high - top - bottom))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
           'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="16">{paper}: {heading(measured).replace("**", "")}</text>',
           f'<text x="{left}" y="{high - 8}">{AXES[paper][1]}</text>']
    for level in levels:
        _, y = place(xs[0], level)
        out.append(f'<line x1="{left}" x2="{wide - right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{duration(level)}</text>')
    for x in xs:
        at, y = place(x, levels[0])
        out.append(f'<text x="{at:.1f}" y="{y + 15:.1f}" text-anchor="middle">{x:,.0f}</text>')
    colours = {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(lines)}
    colours.update(paper="#000000", floor="#999999")
    # labels at the last points, apart from each other
    ends = sorted((place(*points[-1])[1], label) for label, points in lines.items())
    free = top
    for label, points in lines.items():
        colour = colours[label]
        dashed = ' stroke-dasharray="4 3"' if label in ("paper", "floor") else ""
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in (place(*point) for point in points))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashed}/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{colour}"/>'
                for a, b in (place(*point) for point in points)]
    for y, label in ends:
        free = max(y, free)
        text = re.sub("^(cuda|cpu)", "hotfiber", label).replace("&", "&amp;").replace("<", "&lt;")
        out.append(f'<text x="{wide - right + 10}" y="{free + 4:.1f}" fill="{colours[label]}">{text}</text>')
        free += 14
    return "\n".join(out + ["</svg>", ""])


def page(text, measurements):
    """The page with the tables replaced."""
    for paper in PAPERS:
        parts = []
        for measured in measurements:
            lines = table(measured, paper)
            if lines:
                parts += [heading(measured), "", *lines, ""]
        begin = f"<!-- rows: {paper} -->"
        text, count = re.subn(re.escape(begin) + r".*?<!-- end -->",
                              lambda _, parts=parts: "\n".join([begin, "", *parts, "<!-- end -->"]), text,
                              flags=re.DOTALL)
        if count != 1:
            sys.exit(f"{PAGE}: {count} places for '{begin}', not 1")
    if any("gpu" in measured["machine"] for measured in measurements):
        text = re.sub(r"<!-- until .*?<!-- end -->\n\n", "", text, flags=re.DOTALL)
    absent = [f"{measured['machine'].get('gpu', 'CPU')}: {line}" for measured in measurements
              for line in missing(measured)]
    begin = "<!-- missing -->"
    return re.sub(re.escape(begin) + r".*?<!-- end -->", lambda _: "\n".join(
        [begin, "", *(f"- {line}" for line in absent or ["none"]), "", "<!-- end -->"]), text, flags=re.DOTALL)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def merge(target, paths):
    """The rows of all parts that can be read; 1 if one cannot."""
    made, failed = None, 0
    for path in sorted(paths, key=lambda one: [name in one for name in PAPERS], reverse=True):
        try:
            part = load(path)
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = 1
            continue
        if made is None:
            made = part
        else:
            made["rows"] += part["rows"]
    if made is None:
        sys.exit("no part can be read")
    with open(target, "w", encoding="utf-8") as file:
        rows = ",\n".join("    " + json.dumps(row) for row in made.pop("rows"))
        head = json.dumps(made, indent=2)
        file.write(head[:-2] + ',\n  "rows": [\n' + rows + "\n  ]\n}\n")
    return failed


def main(arguments):
    if arguments[:1] == ["--merge"]:
        return merge(arguments[1], arguments[2:])
    if arguments[:1] == ["--print"]:
        measured = load(arguments[1])
        for paper in PAPERS:
            print("\n".join([f"\n{paper}: {heading(measured)}", "", *table(measured, paper)]))
        return 0
    measurements = [load(path) for path in RESULTS if os.path.exists(path)]
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    made = {PAGE: page(old, measurements)}
    for paper in PAPERS:
        picture = plot(measurements[0], paper)
        if picture:
            made[os.path.join(PLOTS, f"paper_{paper.lower()}.svg")] = picture
    differ = []
    for path, text in made.items():
        now = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                now = file.read()
        if now != text:
            differ.append(os.path.relpath(path, ROOT))
            if "--check" not in arguments:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    print(("not what bench/results gives: " if "--check" in arguments else "written: ") + ", ".join(differ)
          if differ else "tables and plots are what bench/results gives")
    return bool(differ) and "--check" in arguments


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
