#!/usr/bin/python3
"""Is there a cliff? The share of voxels solved along each axis of a scan: how many voxels have one fibre, how many
directions, how much noise, whole sphere or half.

    bench/accuracy/axes.py [--hotfiber FILE] [--seeds N] [--first SEED] [--jobs N] [--no-peers] [--folder F]
                           [--only TEXT] [--size X,Y,Z] [-o FILE.md] [--picture FILE.svg]

Phantoms as in tissue.py (stick-zeppelin, 400 voxels a case and seed), the response from the same data. MRtrix's csd,
and its msmt_csd with several shells: the best of 81 pairs of thresholds and of the harmonic orders, chosen by the score
itself. With --folder results are kept there, one file for a phantom, and an interrupted run goes on where it was. Needs
mrtrix3, python3-nibabel, python3-numpy, python3-scipy; for the picture python3-matplotlib."""
import functools
import json
import multiprocessing
import os
import tempfile

import nibabel
import numpy as np

import tissue

SINGLES = (2, 5, 10, 25, 50, 75, 100)  # per cent; two and three fibres share the rest as 3.5 to 1
DIRECTIONS = (6, 12, 20, 32, 64)
SNRS = (8, 10, 15, 20, 30, 40, 60)
SIZE = "20,10,2"
SHELLS = {"one shell": "-b 2000 --directions 64", "three shells": "-b 1000,2000,3000 --directions 60 --b0 12"}


def cases():
    """Axis, row, value, words for `hotfiber phantom`, SNR."""
    made = []
    for singles in SINGLES:
        left = .9 * (1 - singles / 100)
        shares = "--shares %.3f,%.3f,%.3f,%.3f" % (.1 * (singles < 100), (.9 if singles < 100 else 1) * singles / 100,
                                                   left * 3.5 / 4.5, left / 4.5)
        for name, words in SHELLS.items():
            made.append(("voxels with one fibre, %", name, singles, "%s %s" % (words, shares), 25))
    for name, b in (("b=1000", 1000), ("b=3000", 3000)):
        for n in DIRECTIONS:
            made.append(("directions", name, n, "-b %d --directions %d --b0 %d" % (b, n, max(2, n // 8)), 25))
    made.append(("directions", "b=1000, 2000, 3000", 270, "-b 1000,2000,3000 --directions 90 --b0 18", 25))
    for snr in SNRS:
        for name, words in SHELLS.items():
            made.append(("SNR", name, snr, words, snr))
    for name, words in (("whole sphere", ""), ("half sphere", "half")):
        for n in (20, 32, 64):
            made.append(("directions, sphere or half of it (b=2000)", name, n,
                         "-b 2000 --directions %d --b0 4 %s" % (n, words), 25))
    return made


def half_sphere(words, snr):
    """The scheme with every direction in the half z >= 0, as scanners' tables often are: files for --bval, --bvec."""
    words = words.replace("half", "").strip()
    tissue.call(HOT, "phantom", "-o", "s.nii.gz", "--truth", "s_t.nii.gz", *words.split(), "--voxels", 1, "--single",
                "--quiet")
    g = np.loadtxt("s.bvec")
    np.savetxt("half.bvec", g * np.where(g[2] < 0, -1, 1))
    return "--bval s.bval --bvec half.bvec"


def run_case(peers, kept, size, case):
    """All voxels solved, single ones, calibration, what chance makes of that, MRtrix's best."""
    axis, row, value, words, snr, seed = case
    back = os.getcwd()
    name = "%s %s %s %d" % (axis, row, value, seed) + (" " + size) * (size != SIZE)
    name = "".join(c if c.isalnum() else "_" for c in name) + ".json"
    file = kept and os.path.join(kept, name)
    known = json.load(open(file)) if kept and os.path.exists(file) else {}
    if len(known.get("hotfiber", ())) == 4 and (not peers or "MRtrix" in known):
        return known["hotfiber"] + [known.get("MRtrix", np.nan)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            scheme = half_sphere(words, snr) if "half" in words else words
            tissue.call(HOT, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *tissue.MIX.split(),
                        *tissue.TISSUES[0][1].split(), *scheme.split(), "--size", size, "--snr", snr, "--seed",
                        seed, "--quiet")
            image = nibabel.load("d.nii.gz")
            nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), "mask.nii.gz")
            truth = tissue.in_order(tissue.vectors("t.nii.gz"))
            row = tissue.hotfiber(HOT, truth, 1.0)["hotfiber"]
            known["hotfiber"] = [row["all"], row.get("1", np.nan), row["calibration"], row["chance"]]
            if peers:
                known["MRtrix"] = max((r["all"] for r in tissue.mrtrix(HOT, truth, 1.0).values()), default=np.nan)
            if kept:
                with open(file, "w") as to:
                    json.dump(known, to)
            return known["hotfiber"] + [known.get("MRtrix", np.nan)]
        finally:
            os.chdir(back)


PEERS = ", and the best of MRtrix's csd and\nmsmt_csd with thresholds chosen by the score itself"
HEAD = """
## Along each axis of a scan

`bench/accuracy/axes.py`: phantoms of stick-zeppelin tissue as above, SNR 25 unless it is the axis, %d seeds of %d
voxels a point. Share of all voxels solved; in brackets single fibres, the calibration error of P(k) and that of an
exactly right P(k) in the same number of voxels%s.

![The same as curves](static/accuracy_axes.svg)
"""


def table(results, seeds, voxels):
    peers = not all(np.isnan(r[4]) for r in results.values())
    lines = [HEAD % (seeds, voxels, PEERS if peers else "")]
    for axis in dict.fromkeys(key[0] for key in results):
        rows = list(dict.fromkeys(key[1] for key in results if key[0] == axis))
        values = sorted({key[2] for key in results if key[0] == axis})
        lines += ["| %s | %s |" % (axis, " | ".join(map(str, values))), "| --- |" + " --- |" * len(values)]
        for row in rows:
            cells = []
            for value in values:
                r = results.get((axis, row, value))
                cells.append("-" if r is None else "%.3f (%.2f, %.3f, %.3f%s)" % (
                    r[0], r[1], r[2], r[3], ", %.3f" % r[4] if peers else ""))
            lines.append("| %s | %s |" % (row, " | ".join(cells)))
        lines.append("")
    return "\n".join(lines)


def picture(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "axes"})
    axes_names = list(dict.fromkeys(key[0] for key in results))
    figure, plots = pyplot.subplots(1, len(axes_names), figsize=(4 * len(axes_names), 3.4), sharey=True)
    for plot, axis in zip(plots, axes_names):
        for color, row in enumerate(dict.fromkeys(key[1] for key in results if key[0] == axis)):
            points = sorted((key[2], r[0], r[4]) for key, r in results.items() if key[:2] == (axis, row))
            x, y, peer = zip(*points)
            plot.plot(x, y, "o-", color="C%d" % color, label="hotfiber, " + row)
            if not np.all(np.isnan(peer)):
                plot.plot(x, peer, "x:", color="C%d" % color, label="MRtrix, " + row)
        if axis.startswith(("SNR", "directions")):
            plot.set_xscale("log")
            ticks = sorted({key[2] for key in results if key[0] == axis})
            plot.set_xticks(ticks, [str(t) for t in ticks])
            plot.minorticks_off()
        plot.set_xlabel(axis)
        plot.set_ylim(0, 1)
        plot.grid(alpha=.3)
        plot.legend(fontsize=7, loc="lower right")
    plots[0].set_ylabel("share of voxels solved")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def main():
    global HOT
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=88000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--folder")
    parser.add_argument("--only", default="", help="points whose axis and row contain this")
    parser.add_argument("--size", default=SIZE)
    parser.add_argument("-o", help="append the tables to this page, in place of older ones")
    parser.add_argument("--picture")
    options = parser.parse_args()
    HOT = options.hotfiber
    kept = options.folder and os.path.abspath(options.folder)
    if kept:
        os.makedirs(kept, exist_ok=True)
    every = [case + (options.first + 100 * i + s,) for i, case in enumerate(cases()) for s in range(options.seeds)
             if options.only in "%s, %s" % case[:2]]
    with multiprocessing.Pool(options.jobs) as pool:
        made = pool.map(functools.partial(run_case, not options.no_peers, kept, options.size), every, 1)
    results = {}
    for case, figures in zip(every, made):
        results.setdefault(case[:3], []).append(figures)
    results = {key: np.mean(values, 0) for key, values in results.items()}
    text = table(results, options.seeds, np.prod([int(n) for n in options.size.split(",")]))
    print(text)
    if options.o:
        page = open(options.o).read() if os.path.exists(options.o) else ""
        with open(options.o, "w") as file:
            file.write(page.split(HEAD.split("\n")[1])[0].rstrip() + "\n" + text.rstrip() + "\n")
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    main()
