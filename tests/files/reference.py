"""Regression test: every stage's results on two phantoms are those of reference.json, up to rounding and instruction
sets. `reference.py --update` accepts an intended change, which then shows in the diff. Formulas have separate tests;
this one covers constants without a formula."""
import json
import os
import sys

import numpy as np

from _check import check, end
from _dwi import hot
from _nrrd import read

KEPT = os.path.join(os.environ["HOT_SOURCE"], "tests", "files", "reference.json")
figures = {}


def good(*words):
    done = hot(*words, "--quiet", "--device", "cpu")
    check(done.returncode == 0, "%s: %s" % (" ".join(map(str, words)), done.stderr[-300:]))
    return done


def keep(name, values):
    figures[name] = [float("%.6g" % value) for value in np.ravel(values)]


def keep_directions(name, path, rows):
    """Per row of the phantom: shares of 0, 1, 2, 3 fibres, mean length of the first and second."""
    peaks = read(path)[2]
    peaks = peaks.reshape((3, peaks.shape[0] // 3) + peaks.shape[1:], order="F").astype(float)
    length = np.linalg.norm(peaks, axis=0)
    count = (length > 0).sum(0)
    for row in range(rows):
        here = count[:, row] if rows > 1 else count
        lengths = length[:, :, row] if rows > 1 else length
        keep("%s, row %d: counts" % (name, row), [(here == n).mean() for n in range(4)])
        keep("%s, row %d: lengths" % (name, row), [lengths[n].mean() for n in range(2)])


good("phantom", "--voxels", 150, "--snr", 22, "--seed", 11, "-b", "1000,2600", "--directions", 45, "-o", "rows.nrrd")
good("phantom", "--layout", "mixture", "--size", "9,9,9", "--snr", 25, "--seed", 4, "--tissue", "noddi", "--dispersion",
     "0-20", "--csf", "0-.2", "--grey", "0-.3", "--weights", ".4-1", "-b", "1000,2000", "-o", "tissue.nrrd")
good("phantom", "--voxels", 150, "--snr", 22, "--seed", 12, "-b", 3000, "-o", "one.nrrd")
good("phantom", "--voxels", 150, "--snr", 8, "--seed", 13, "-b", 3000, "-o", "dark.nrrd")

for name in ("rows", "tissue", "one", "dark"):
    about = json.loads(good("info", "-i", name + ".nrrd", "--json").stdout)
    keep(name + ": noise, SNR, mask", [about["noise"], about["snr"], about["mask_voxels"]])
    good("response", "-i", name + ".nrrd", "-o", name + ".txt")
    keep(name + ": response", np.loadtxt(name + ".txt"))

for name, data, order, more in (("adc 2", "rows", 2, ()), ("adc 4, W", "rows", 4, ("--regularise", .01)),
                                ("adc 4, plain, W", "rows", 4, ("--weights", "none", "--regularise", .01)),
                                ("adc 4, positive", "dark", 4, ("--positive",)),
                                ("adc 2, S0", "rows", 2, ("--known_b0", "false")), ("odf 6", "one", 6, ()),
                                ("fod 4", "rows", 4, ("--response", "rows.txt")),
                                ("fod 8", "rows", 8, ("--response", "rows.txt")),
                                ("fod 6", "one", 6, ("--response", "one.txt")),
                                ("fod 8, dark", "dark", 8, ("--response", "one.txt")),
                                ("fod 6, W", "one", 6, ("--response", "one.txt", "--regularise", .005)),
                                ("fod 6 of tissue", "tissue", 6, ("--response", "tissue.txt"))):
    good("fit", "-i", data + ".nrrd", "-o", "t.nrrd", "--model", name.split()[0], "--order", order, *more)
    tensors = read("t.nrrd")[2].astype(float)
    values = tensors[1:].reshape(tensors.shape[0] - 1, -1)
    # magnitudes of a few of the values: xxxx, xxxy ...
    keep(name + ": fitted, root mean squares", np.concatenate([[tensors[0].mean()],
                                                               np.sqrt((values ** 2).mean(1))[[0, 1, 3, -2, -1]]]))
    if name in ("fod 8", "fod 6"):
        for method in ("maxima", "sshopm", "lowrank"):
            good("peaks", "-i", "t.nrrd", "-o", "p.nrrd", "--method", method)
            keep_directions("%s, %s" % (name, method), "p.nrrd", 6)

for name, data, rows, more in (("signal", "rows", 6, ()), ("signal, one shell", "one", 6, ()),
                               ("signal, tissue", "tissue", 1, ()),
                               ("signal, Gaussian", "one", 6, ("--noise_model", "gaussian"))):
    good("run", "-i", data + ".nrrd", "-o", "out", "--force", "--outputs", "maps,peaks_nrrd,probability", *more)
    keep_directions(name, "out/peaks.nrrd", rows)
    counts = json.load(open("out/report.json"))["counts"]
    keep(name + ": counts", [counts["voxels"], counts["fitted"], counts["flagged"], *counts["fibers"].values()])
    import nibabel
    keep(name + ": probabilities", nibabel.load("out/probability.nii.gz").get_fdata().mean((0, 1, 2)))
    keep(name + ": FA, MD, AFD, NuFO", [nibabel.load("out/%s.nii.gz" % m).get_fdata().mean()
                                        for m in ("fa", "md", "afd_total", "afd_max", "afd_sum", "nufo")])

if "--update" in sys.argv[1:] or os.environ.get("HOT_UPDATE_REFERENCE"):
    with open(KEPT, "w") as file:
        file.write("{\n" + ",\n".join("  %s: %s" % (json.dumps(name), json.dumps(values))
                                      for name, values in figures.items()) + "\n}\n")
kept = json.load(open(KEPT))
check(set(kept) == set(figures), "other figures: %s" % (set(kept) ^ set(figures)))
for name in set(kept) & set(figures):
    now, before = np.array(figures[name]), np.array(kept[name])
    # A voxel at a threshold may go either way: two in 150. Sums over voxels change by rounding alone.
    slack = 2.01 / 150 if "row" in name and "counts" in name else 2e-3 * np.abs(before).max() + (
        .004 if "row" in name or "probab" in name or "NuFO" in name else 0)
    if name.endswith(": counts") and "row" not in name:
        slack = 5
    check(now.shape == before.shape and (np.abs(now - before) <= slack).all(),
          "%s: %s, before %s" % (name, now.tolist(), before.tolist()))
end()
