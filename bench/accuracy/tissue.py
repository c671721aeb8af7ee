#!/usr/bin/python3
"""Tissue unlike that of the method's own simulations: acquisitions times tissue models times tools, on the same files.

    bench/accuracy/tissue.py [--folder F] [--only TEXT] [--tools TEXT,TEXT] [--quick] [--hotfiber FILE]
                             [--dipy PYTHON] [--jobs N] [-o FILE.md]

Every case is a mixture of `hotfiber phantom`: 15 % of the voxels without a fibre, 40, 35 and 10 % with one, two and
three; dispersion 0-20 degrees, grey matter and CSF in addition to the fibres, weights .4-1, sigma from .7 to 1.3 times
its mean.
Every tool estimates its response from the same data and gets all shells that it can use. A voxel is solved when the
number of fibres is right and each is within 15 degrees. hotfiber runs with its defaults; of MRtrix and DIPY each row is
the best of all relative and absolute thresholds, chosen by the score itself, which favours them. Calibration: mean over
voxels of |P(k) said - share right| in ten bins of the largest P.

Results are kept per case and tool in --folder (JSON), so that an interrupted run resumes; -o writes the page from the
finished cases. DIPY needs a Python that has it (--dipy venv/bin/python): a newer version than Debian's. --quick: a few
small cases. Needs mrtrix3, python3-nibabel, python3-numpy, python3-scipy."""
import argparse
import contextlib
import functools
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

import nibabel
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MIX = "--layout mixture --dispersion 0-20 --csf 0-.2 --grey 0-.2 --weights .4-1 --noise-slope .3"
# name, options, SNR of the standard case
ACQUISITIONS = [
    ("12 directions, b=1000", "-b 1000 --directions 12 --b0 2", 30),
    ("20 directions, b=1000", "-b 1000 --directions 20 --b0 3", 25),
    ("32 directions, b=1000", "-b 1000 --directions 32 --b0 4", 25),
    ("64 directions, b=1000", "-b 1000 --directions 64", 25),
    ("64 directions, b=2000", "-b 2000 --directions 64", 25),
    ("64 directions, b=3000", "-b 3000 --directions 64", 25),
    ("30 + 30 directions, b=1000 2000", "-b 1000,2000 --directions 30 --b0 6", 25),
    ("45 x 2 directions, b=1000 3000", "-b 1000,3000 --directions 45", 25),
    ("60 x 3 directions, b=1000 2000 3000", "-b 1000,2000,3000 --directions 60 --b0 12", 25),
]
TISSUES = [("stick-zeppelin", "--tissue stick-zeppelin"), ("noddi", "--tissue noddi"),
           ("ball-stick", "--tissue ball-stick --intra .6-.9"), ("zeppelin", "--across .3e-3 --vary .15")]
SNRS = (10, 15, 20, 40)
SNR_CASES = ("64 directions, b=1000", "60 x 3 directions, b=1000 2000 3000")
SHARES_CASES = {"singles 2 %": "--shares .1,.02,.6,.28", "singles 100 %": "--shares 0,1,0,0"}
RELATIVE = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
ABSOLUTE = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


def cases(quick):
    made = []
    for i, (a, (name, options, snr)) in enumerate((a, x) for a, x in enumerate(ACQUISITIONS)):
        for t, (tissue, more) in enumerate(TISSUES):
            made.append((name, tissue, snr, "%s %s" % (options, more), 71000 + 10 * a + t))
    for a, (name, options, _) in enumerate(ACQUISITIONS):
        if name in SNR_CASES:
            for s, snr in enumerate(SNRS):
                made.append((name, TISSUES[0][0], snr, "%s %s" % (options, TISSUES[0][1]), 72000 + 10 * a + s))
    for s, (shares, more) in enumerate(SHARES_CASES.items()):
        name, options, snr = ACQUISITIONS[7]
        made.append(("%s; %s" % (name, shares), TISSUES[0][0], snr, "%s %s %s" % (options, TISSUES[0][1], more),
                     73000 + s))
    return [made[4], made[16], made[28]] if quick else made


def call(*command, folder=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise RuntimeError("%s failed:\n%s" % (" ".join(map(str, command)), done.stderr[-2000:]))
    return done


# ---- scoring -------------------------------------------------------------------------------------------------------
def solved(truth, found):
    """[voxel] whether solved. Both [voxel, fibre, xyz] in RAS, absent fibres 0."""
    found = np.pad(found, ((0, 0), (0, max(0, truth.shape[1] - found.shape[1])), (0, 0)))  # few directions: one at most
    length = np.linalg.norm(truth, axis=-1)
    number, count = (length > 0).sum(1), (np.linalg.norm(found, axis=-1) > 0).sum(1)
    right = number == count
    good = right & (number == 0)
    unit = lambda v: v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)  # noqa: E731
    for k in (1, 2, 3):
        mine = np.flatnonzero(right & (number == k))
        dots = np.abs(np.einsum("nic,njc->nij", unit(truth[mine, :k]), unit(found[mine, :k])))
        near = np.degrees(np.arccos(np.clip(dots, 0, 1)))
        # `hotfiber score` pairs by the least sum of angles
        orders = list(itertools.permutations(range(k)))
        angles = np.stack([np.stack([near[:, i, o[i]] for i in range(k)], 1) for o in orders], 1)
        best = angles[np.arange(len(mine)), angles.sum(-1).argmin(1)]
        good[mine] = (best <= 15).all(1)
    return good


def by_class(truth, good):
    number = (np.linalg.norm(truth, axis=-1) > 0).sum(1)
    return {"all": float(good.mean()), **{str(k): float(good[number == k].mean()) for k in range(4)
                                          if (number == k).any()}}


def in_order(peaks):
    """Longest first, absent ones 0."""
    peaks = np.nan_to_num(peaks)
    order = np.argsort(-np.linalg.norm(peaks, axis=-1), 1, kind="stable")
    return np.take_along_axis(peaks, order[..., None], 1)


def best_threshold(truth, peaks, scale):
    """The best of relative and of absolute thresholds (those in units of `scale`)."""
    peaks = in_order(peaks)
    length = np.linalg.norm(peaks, axis=-1)
    results = []
    for relative in (0.0,) + RELATIVE:
        for absolute in ABSOLUTE:
            keep = (length >= relative * length[:, :1]) & (length > absolute * scale)
            good = solved(truth, np.where(keep[..., None], peaks, 0))
            results.append((good.mean(), relative, absolute, good))
    best = max(results, key=lambda r: r[0])
    kept = max((r for r in results if by_class(truth, r[3]).get("1", 0) >= 0.95), key=lambda r: r[0], default=None)
    return {**by_class(truth, best[3]), "relative": best[1], "absolute": best[2],
            "with singles kept": None if kept is None else float(kept[0])}


def calibration(p, truth):
    number = (np.linalg.norm(truth, axis=-1) > 0).sum(1)
    said, right = p.max(1), p.argmax(1) == number
    total = 0.0
    for low in np.arange(0, 1, 0.1):
        mine = (said > low) & (said <= low + 0.1 + 1e-9)
        if mine.any():
            total += mine.mean() * abs(said[mine].mean() - right[mine].mean())
    return float(total)


def chance(p, random, draws=40):
    """The calibration error of P(k) where it is the truth: mean and deviation."""
    found = []
    for _ in range(draws):
        number = (random.random((len(p), 1)) > np.cumsum(p, 1)[:, :3]).sum(1)
        truth = (np.arange(3)[None, :] < number[:, None])[..., None] * np.ones(3)
        found.append(calibration(p, truth))
    return np.mean(found), np.std(found)


def vectors(path):
    data = np.asanyarray(nibabel.load(path).dataobj).astype(float)
    return data.reshape(-1, data.shape[3] // 3, 3)


# ---- tools: each gets the folder with d.nii.gz and the truth, and returns {row: figures} ---------------------------
def hotfiber(hot, truth, mean_length):
    call(hot, "peaks", "--method", "signal", "--dwi", "d.nii.gz", "--mask", "mask.nii.gz", "-o", "p.nii.gz",
         "--probability", "k.nii.gz", "--quiet")
    p = np.asanyarray(nibabel.load("k.nii.gz").dataobj).reshape(-1, 4)
    return {"hotfiber": {**by_class(truth, solved(truth, in_order(vectors("p.nii.gz")))),
                         "calibration": calibration(p, truth), "chance": chance(p, np.random.default_rng(1))[0]}}


def lowrank(hot, truth, mean_length):
    """Of several shells: rank-1 terms of the H-psd deconvolution's tensors of order 4."""
    b = np.loadtxt("d.bval")
    if len(np.unique(np.round(b[b > 50], -2))) < 2:
        return {}
    call(hot, "run", "-i", "d.nii.gz", "--mask", "mask.nii.gz", "-o", "lowrank", "--model", "msmt", "--constraint",
         "hpsd", "--order", 4, "--method", "lowrank", "--outputs", "peaks", "--quiet")
    return {"hotfiber lowrank": by_class(truth, solved(truth, in_order(vectors("lowrank/peaks.nii.gz"))))}


def mrtrix(hot, truth, mean_length):
    rows, common = {}, ("-quiet", "-force", "-nthreads", "1")
    grad = ("-fslgrad", "d.bvec", "d.bval")
    b = np.loadtxt("d.bval")
    shells = np.unique(np.round(b[b > 50], -2))
    highest = (int((np.abs(b - shells[-1]) < 50).sum()))
    lmaxes = [l for l in (4, 6, 8, 10) if (l + 1) * (l + 2) // 2 <= highest] or [2]
    if highest >= 45:
        lmaxes = [l for l in (6, 8, 10) if l <= 8 or highest >= 60]
    mask = ("-mask", "mask.nii.gz")
    tried = {}
    for lmax in lmaxes:
        with contextlib.suppress(RuntimeError):
            call("dwi2response", "tournier", "d.nii.gz", "m.txt", *grad, *mask, "-lmax", lmax, *common)
            call("dwi2fod", "csd", "d.nii.gz", "m.txt", "fod.mif", *grad, *mask, "-lmax", lmax, *common)
            call("sh2peaks", "fod.mif", "p.nii.gz", "-num", "5", *common)
            tried[("MRtrix csd", lmax)] = vectors("p.nii.gz")
    # its usual shares of voxels (.5 % single fibres ...) are less than a voxel in data as small as these
    with contextlib.suppress(RuntimeError):
        call("dwi2response", "dhollander", "d.nii.gz", "wm.txt", "gm.txt", "csf.txt", *grad, *mask, "-erode", "0",
             "-sfwm", "5", "-gm", "20", "-csf", "30", *common)
    tissues = ("wm.txt", "gm.txt", "csf.txt") if len(shells) > 1 else ("wm.txt", "csf.txt")
    if os.path.exists("csf.txt"):
        for lmax in lmaxes:
            with contextlib.suppress(RuntimeError):
                pairs = [x for t in tissues for x in (t, t.replace("txt", "mif"))]
                call("dwi2fod", "msmt_csd", "d.nii.gz", *pairs, *grad, *mask, "-lmax",
                     ",".join([str(lmax)] + ["0"] * (len(tissues) - 1)), *common)
                call("sh2peaks", "wm.mif", "p.nii.gz", "-num", "5", *common)
                tried[("MRtrix msmt_csd", lmax)] = vectors("p.nii.gz")
    for (name, lmax), peaks in tried.items():
        row = best_threshold(truth, peaks, 1.0)
        row["lmax"] = lmax
        if name not in rows or row["all"] > rows[name]["all"]:
            rows[name] = row
    return rows


DIPY = '''
import sys, warnings, io, contextlib
warnings.simplefilter("ignore")
import numpy as np, nibabel
from dipy.core.gradients import gradient_table
from dipy.data import get_sphere
from dipy.direction import peak_directions
from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, auto_response_ssst, response_from_mask_ssst
from dipy.reconst.rumba import RumbaSDModel
image = nibabel.load("d.nii.gz")
data = np.asanyarray(image.dataobj).astype(float)
b, bvec = np.loadtxt("d.bval"), np.loadtxt("d.bvec")
axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
if np.linalg.det(axes) > 0:
    bvec = bvec * np.array([[-1], [1], [1]])
g = (axes @ bvec).T
sphere = get_sphere(name="repulsion724")
def table(keep):
    return gradient_table(b[keep], bvecs=g[keep], b0_threshold=50)
def peaks(odf, name):
    out = np.zeros(data.shape[:3] + (5, 3), "f4")
    for i in np.ndindex(data.shape[:3]):
        d, v, _ = peak_directions(odf[i], sphere, relative_peak_threshold=.1, min_separation_angle=25)
        n = min(5, len(v))
        out[i][:n] = d[:n] * np.maximum(v[:n, None], 1e-9)
    np.save(name, out.reshape(-1, 5, 3))
top = (b < 50) | (np.abs(b - b.max()) < 60)
t = table(top)
from dipy.reconst.dti import TensorModel
fit = TensorModel(t).fit(data[..., top])
fa = np.nan_to_num(fit.fa)
single = fa > np.percentile(fa, 85)          # its usual FA > .7 finds nothing in such tissue
response, _ = response_from_mask_ssst(t, data[..., top], single.astype(int))
for order in [o for o in (4, 6, 8) if (o + 1) * (o + 2) // 2 <= (top & (b > 50)).sum()]:
    model = ConstrainedSphericalDeconvModel(t, response, sh_order_max=order)
    with contextlib.redirect_stderr(io.StringIO()):
        peaks(np.maximum(model.fit(data[..., top]).odf(sphere), 0), "dipy_csd_%d.npy" % order)
everything = table(np.ones(len(b), bool))
evals = np.asarray(response[0])
for name, recon in (("rumba", "smf"),):
    model = RumbaSDModel(everything, wm_response=evals, gm_response=.8e-3, csf_response=3e-3, n_iter=300, sphere=sphere,
                         recon_type=recon)
    with contextlib.redirect_stderr(io.StringIO()):
        peaks(model.fit(data).odf(sphere), "dipy_rumba.npy")
'''


def dipy(python, truth, mean_length):
    rows = {}
    with open("dipy_tools.py", "w") as file:
        file.write(DIPY)
    call(python, "dipy_tools.py")
    for name in sorted(os.listdir(".")):
        if name.startswith("dipy_") and name.endswith(".npy"):
            peaks = np.load(name)
            lengths = np.linalg.norm(in_order(peaks)[:, 0], axis=1)
            row = best_threshold(truth, peaks, float(np.percentile(lengths, 90)) or 1.0)
            label = "DIPY CSD" if "csd" in name else "DIPY RUMBA"
            if label not in rows or row["all"] > rows[label]["all"]:
                rows[label] = row
    return rows


TOOLS = {"hotfiber": hotfiber, "lowrank": lowrank, "mrtrix": mrtrix, "dipy": dipy}


COLUMNS = ["hotfiber", "hotfiber lowrank", "MRtrix csd", "MRtrix msmt_csd", "DIPY RUMBA", "DIPY CSD"]


def run_case(options, case):
    acquisition, tissue, snr, words, seed = case
    name = "%s, %s, SNR %g" % (acquisition, tissue, snr)
    file = os.path.join(options.folder, "".join(c if c.isalnum() else "_" for c in name) + ".json")
    kept = json.load(open(file)) if os.path.exists(file) else {"name": name, "acquisition": acquisition,
                                                               "tissue": tissue, "snr": snr, "tools": {}, "rows": {}}
    wanted = [t for t in options.tools.split(",") if t not in kept["tools"]]
    if "dipy" in wanted and not options.dipy:
        wanted.remove("dipy")
    if not wanted:
        return kept
    size = "10,6,2" if options.quick else "20,10,2"
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            call(options.hotfiber, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *MIX.split(), *words.split(),
                 "--size", size, "--snr", snr, "--seed", seed, "--quiet")
            image = nibabel.load("d.nii.gz")
            nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), "mask.nii.gz")
            truth = in_order(vectors("t.nii.gz"))
            for tool in wanted:
                began = time.process_time()
                try:
                    rows = TOOLS[tool](options.dipy if tool == "dipy" else options.hotfiber, truth, 1.0)
                except RuntimeError as error:
                    print("%s: %s: %s" % (name, tool, error), file=sys.stderr, flush=True)
                    continue
                kept["rows"].update(rows)
                kept.setdefault("days", {}).update(dict.fromkeys(rows, time.strftime("%Y-%m-%d")))
                kept["tools"][tool] = time.process_time() - began
                for row, r in rows.items():
                    print("%-62s %-20s %.3f  %s  %s" % (name, row, r["all"], " ".join(
                        "%d: %.3f" % (k, r[str(k)]) for k in range(4) if str(k) in r),
                        "cal %.3f" % r["calibration"] if "calibration" in r else ""), file=sys.stderr, flush=True)
        finally:
            os.chdir(back)
    if kept["tools"]:
        with open(file, "w") as out:
            json.dump(kept, out, indent=1)
    return kept


HEAD = """# Accuracy on tissue of other kinds

Written by `bench/accuracy/tissue.py -o docs/accuracy.md`, whose head describes the method; %d cases. Share of all
voxels solved: the right number of fibres, each within 15 degrees. Phantoms of 400 voxels (15 %% without a fibre, 40 %%
with one, 35 %% with two, 10 %% with three, crossings at 30 to 90 degrees), dispersion 0 to 20 degrees, grey matter and
CSF up to 20 %% each in addition to the fibres, weights .4 to 1, sigma from .7 to 1.3 times its mean. The response comes
from the same data for every tool. MRtrix and DIPY: the best of 81 pairs of a relative and an absolute threshold and of
the harmonic orders, chosen by the score itself. `hotfiber`: its defaults. `hotfiber lowrank`:
`--model msmt --constraint hpsd --order 4 --method lowrank`, with several shells. Calibration: mean
of |P(k) said - share right| over ten bins. Standard error of one figure: .015 to .025. Bold: the best of its row.
"""


def summary(results, names):
    """Each of hotfiber's rows compared with the best of the other tools."""
    peer = ("MRtrix", "DIPY")
    lines = ["", "| hotfiber's row | cases above the best of MRtrix and DIPY | mean gain | largest loss |",
             "| --- | --- | --- | --- |"]
    for n in names:
        if not n.startswith(peer):
            gain = [r["rows"][n]["all"] - max(v["all"] for k, v in r["rows"].items() if k.startswith(peer))
                    for r in results if n in r["rows"] and any(k.startswith(peer) for k in r["rows"])]
            if gain:
                lines.append("| %s | %d of %d | %.3f | %.3f |" % (n, sum(g > 0 for g in gain), len(gain),
                                                                np.mean(gain), max(0, -min(gain))))
    return lines if len(lines) > 3 else []


def page(results):
    """The page in Markdown."""
    names = sorted({row for r in results for row in r["rows"]}, key=COLUMNS.index)
    lines = ["| acquisition | tissue | SNR | " + " | ".join(names) + " |",
             "| --- | --- | --- |" + " --- |" * len(names)]
    for r in results:
        best = max(row["all"] for row in r["rows"].values())
        cell = lambda row: "-" if row is None else ("**%.3f**" if row["all"] >= best else "%.3f") % row["all"]  # noqa
        lines.append("| %s | %s | %g | %s |" % (r["acquisition"], r["tissue"], r["snr"],
                                               " | ".join(cell(r["rows"].get(n)) for n in names)))
    lines += ["", "| mean over all cases | all | none | one | two | three | calibration |",
              "| --- | --- | --- | --- | --- | --- | --- |"]
    for n in names:
        mine = [r["rows"][n] for r in results if n in r["rows"]]
        mean = lambda key: np.mean([m[key] for m in mine if m.get(key) is not None] or [np.nan])  # noqa: E731
        figures = ["%.3f" % mean(k) for k in ("all", "0", "1", "2", "3")]
        figures.append("%.3f" % mean("calibration") if any("calibration" in m for m in mine) else "-")
        lines.append("| %s (%d cases) | %s |" % (n, len(mine), " | ".join(figures)))
    days = {n: sorted({r["days"][n] for r in results if n in r.get("days", {})}) for n in names}
    measured = ["", "Measured: %s." % ", ".join("%s %s" % (n, " and ".join(d)) for n, d in days.items() if d)]
    return "\n".join(lines + summary(results, names) + measured)


def command_line(doc):
    """A parser for a script of this folder; the option --hotfiber becomes an absolute path."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hotfiber", default=os.path.join(ROOT, "build", "bin", "hotfiber"), type=os.path.abspath)
    return parser


def write_page(path, text):
    """Prints it, and writes it to the file if there is one."""
    print(text)
    if path:
        with open(path, "w") as file:
            file.write(text + "\n")


def main():
    parser = command_line(__doc__)
    parser.add_argument("--dipy", help="a Python with DIPY; none: its rows are left out")
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "hotfiber_tissue"))
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-o", help="write the tables here")
    options = parser.parse_args()
    options.dipy = os.path.abspath(options.dipy) if options.dipy else None
    options.folder = os.path.abspath(os.path.join(options.folder, "quick" if options.quick else "full"))
    os.makedirs(options.folder, exist_ok=True)
    chosen = [c for c in cases(options.quick) if options.only in "%s, %s, SNR %g" % c[:3]]
    with multiprocessing.Pool(options.jobs) as pool:
        results = pool.map(functools.partial(run_case, options), chosen, 1)
    results = [r for r in results if r["rows"]]
    write_page(options.o, HEAD % len(results) + "\n" + page(results))


if __name__ == "__main__":
    main()
