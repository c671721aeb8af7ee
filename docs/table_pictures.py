#!/usr/bin/python3
"""The pictures of docs/guides/table.md: volumes against their rows, and fibres under right and wrong tables, of
phantoms.

    docs/table_pictures.py [FOLDER]          # default docs/static; HOTFIBER names the command

Needs python3-matplotlib, python3-nibabel, python3-numpy."""
import os
import subprocess
import sys
import tempfile

import matplotlib
import nibabel
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HOTFIBER = os.path.abspath(os.environ.get("HOTFIBER", "build/bin/hotfiber"))
matplotlib.rcParams.update({"svg.hashsalt": "hotfiber", "font.size": 9, "svg.fonttype": "none"})


def hot(*words):
    subprocess.run([HOTFIBER, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def draw_levels(path):
    """Mean signal of each volume, coloured by the b-value of its row."""
    hot("phantom", "--layout", "mixture", "--size", "12,12,6", "-b", "1000,2500", "--directions", "20", "--b0", "5",
        "--snr", "30", "-o", "p.nii.gz", "--truth", "t.nii.gz")
    samples, b = np.asarray(nibabel.load("p.nii.gz").dataobj), np.loadtxt("p.bval")
    none, some = np.flatnonzero(b < 50), np.flatnonzero(b > 50)
    order = np.insert(np.random.default_rng(1).permutation(some), [0, 10, 20, 30, 40], none)
    level, b = samples.reshape(-1, len(b)).mean(0)[order], b[order]
    early = b.copy()
    at = np.flatnonzero(b < 50)[2]
    early[[at - 1, at]] = early[[at, at - 1]]
    figure, axes = plt.subplots(3, 1, figsize=(7, 5.4), sharex=True)
    for axis, (title, rows) in zip(axes, (("right: each colour has its level", b),
                                          ("one b=0 row one place early: two volumes have the wrong colour", early),
                                          ("table sorted by b: colours have no level", np.sort(b)))):
        for value, colour in ((0, "#c03020"), (1000, "#2060b0"), (2500, "#208040")):
            here = np.abs(rows - value) < 50
            axis.plot(np.flatnonzero(here), level[here], "o", ms=4, color=colour, label="b = %d" % value)
        axis.set_title(title, fontsize=9, loc="left")
        axis.set_ylabel("mean signal")
        axis.set_ylim(0, 1.15 * level.max())
    axes[0].legend(ncol=3, fontsize=8, frameon=False, loc="center", bbox_to_anchor=(.6, .62))
    axes[2].set_xlabel("volume, counted from 0")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def draw_fibres(path):
    """The picture of a run under a right, a flipped and a permuted table."""
    hot("phantom", "--layout", "bundles", "--size", "36,36,5", "-b", "2000", "--directions", "32", "--b0", "3", "--snr",
        "30", "-o", "h.nii.gz", "--truth", "t.nii.gz")
    g, b = np.loadtxt("h.bvec"), np.loadtxt("h.bval")
    np.savetxt("flipped.bvec", np.diag([-1, 1, 1]) @ g)
    some = np.flatnonzero(b > 50)
    order = np.arange(len(b))
    order[some] = np.random.default_rng(3).permutation(some)
    np.savetxt("permuted.bvec", g[:, order])
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.3))
    for axis, (title, bvec) in zip(axes, (("right", "h.bvec"), ("x flipped", "flipped.bvec"),
                                          ("directions of another scan", "permuted.bvec"))):
        hot("run", "-i", "h.nii.gz", "--bvec", bvec, "-o", "out", "--force", "--force_table", "--diffusivities",
            "1.7e-3,.2e-3", "--method", "maxima", "--order", "4", "--max_fibers", "1", "--outputs", "png")
        picture = plt.imread("out/fibers.png")
        high, wide = picture.shape[:2]
        axis.imshow(picture[int(.1 * high):int(.44 * high), int(.03 * wide):int(.39 * wide)])
        axis.set_title(title, fontsize=9)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main():
    folder = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "docs/static")
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        draw_levels(os.path.join(folder, "table_levels.svg"))
        draw_fibres(os.path.join(folder, "table_fibres.png"))


main()
