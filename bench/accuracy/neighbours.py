#!/usr/bin/python3
"""Do the neighbours of a voxel say how many fibres it has? A prototype that hotfiber does not have (decision 37): the
prior of n fibres is multiplied by exp(J (m(n) - mean of m(n))), where m is the mean probability map of the voxels
around, each without its own neighbours. J is what makes the data most probable; 0: neighbours say nothing.

    bench/accuracy/neighbours.py [--only TEXT] [--hotfiber FILE] [--data FOLDER] [--folder F]

For each set of people.py a row without and one with neighbours. Columns as there; J and the log-likelihood that it
gains per voxel, of the whole data. FiberCup: voxels labelled as one-fibre with 0 / 1 / 2 / 3 fibres, and the share of
all labelled voxels with the same number in both acquisitions. The last row: phantoms of independent voxels, where J
must be 0. Slices of human_2shell are 28 mm apart, so that only the slice counts there."""
import itertools
import os
import tempfile

import nibabel
import numpy as np

import people
import tissue

COLUMNS = ("same", "three", "one", "CSF", "grey", "grey 2", "none", "0", "1", "2", "3")


def around(values, flat):
    """Sums over the 26 voxels around each, or the 8 of its slice."""
    padded = np.pad(values, [(1, 1)] * 3 + [(0, 0)] * (values.ndim - 3))
    total = np.zeros(values.shape)
    for step in itertools.product((-1, 0, 1), repeat=3):
        if any(step) and not (flat and step[2]):
            total += padded[tuple(slice(1 + s, 1 + s + n) for s, n in zip(step, values.shape))]
    return total


def couple(probability, flat):
    """P(n) with neighbours, J, and the gain per voxel."""
    fitted = probability.sum(-1) > 0
    p = np.maximum(probability.astype(float), 1e-30) * fitted[..., None]
    count = around(fitted.astype(float), flat)
    here = fitted & (count > 0)
    mean = p[fitted].mean(0)
    excess = around(p, flat)[here] / count[here][:, None] - mean

    def weigh(strength):
        prior = np.exp(strength * excess)
        return p[here] * prior / (prior * mean).sum(1, keepdims=True)

    tried = np.arange(0, 40.05, .1)
    gain = [np.log(weigh(j).sum(1) / p[here].sum(1)).mean() for j in tried]
    p[here] = weigh(tried[np.argmax(gain)])
    return p, tried[np.argmax(gain)], max(gain)


def numbers(probability):
    return np.where(probability.sum(-1) > 0, probability.argmax(-1), 0)


def as_peaks(number):
    """Peaks that people.py counts."""
    return np.repeat((number[..., None] > np.arange(3))[..., None].astype(float), 3, -1)


def judge(hot, data, name, folder):
    os.makedirs(folder, exist_ok=True)
    whole, scan = people.open_set(hot, data, name, folder)
    home = os.path.join(os.path.dirname(folder), name.split(",")[0])
    os.makedirs(home, exist_ok=True)
    tissues = people.tissue_masks(*people.mrtrix(home, whole, "mrtrix"), whole.mask)
    found = [people.run(hot, part, ())["probability"] for part in
             [scan] + [scan.part(volumes) for volumes in people.halves(scan)]]
    coupled = [couple(p, name.startswith("human_2shell")) for p in found]
    for row, maps, about in (("independent", found, ("-", "-")),
                             ("neighbours", [c[0] for c in coupled], ["%.2f" % x for x in coupled[0][1:]])):
        number = [numbers(p) for p in maps]
        figures = people.counts(as_peaks(number[0]), scan.mask, *tissues)
        figures["same"] = (number[1] == number[2])[tissues[0]].mean()
        if name.startswith("human_2shell"):
            path = os.path.join(data, "human_2shell", "peaks_in_two_scans.csv")
            figures.update(people.two_scans(path, as_peaks(number[0])))
        yield (name, row, *about, *(people.shown(c, figures.get(c)) for c in COLUMNS))


def judge_fibercup(hot, data):
    scans, labels = people.fibercup_scans(data)
    for b in (1500, 650):
        found = [people.run(hot, scans[b, a], ())["probability"] for a in (1, 2)]
        coupled = [couple(p, False) for p in found]
        for row, maps in (("independent", found), ("neighbours", [c[0] for c in coupled])):
            number = [numbers(p) for p in maps]
            ones = [" / ".join(map(str, np.bincount(n[labels == 1], minlength=4))) for n in number]
            about = "" if row == "independent" else ", J %.1f and %.1f" % (coupled[0][1], coupled[1][1])
            print("FiberCup b=%d, %s%s: %s; %s; same %.3f" % (
                b, row, about, *ones, (number[0] == number[1])[labels > 0].mean()), flush=True)


def judge_phantom(hot, folder):
    """Voxels of the mixture are independent of each other."""
    stem = os.path.join(folder, "phantom")
    tissue.call(hot, "phantom", "--layout", "mixture", "--size", "20,20,6", "--snr", "20", "-b", "2000", "-o",
                stem + ".nii.gz", "--quiet")
    image = nibabel.load(stem + ".nii.gz")
    b, bvec = np.loadtxt(stem + ".bval"), np.loadtxt(stem + ".bvec")
    p = people.run(hot, people.Scan(people.load(stem + ".nii.gz").astype("f4"), image.affine, b, bvec,
                                    np.ones(image.shape[:3], bool)), ())["probability"]
    coupled, strength, gain = couple(p, False)
    print("independent phantom: J %.1f, gain %.4f, %d of %d numbers change" % (
        strength, gain, (numbers(p) != numbers(coupled)).sum(), p[..., 0].size))


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--data", default=os.path.join(tissue.ROOT, "..", "shared", "data"))
    parser.add_argument("--folder")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    hot, data = options.hotfiber, os.path.abspath(options.data)
    columns = ("set", "row", "J", "gain") + COLUMNS
    with tempfile.TemporaryDirectory() as scratch:
        print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns), flush=True)
        for name in [n for n, s in people.SETS.items() if s[3] and options.only in n]:
            for row in judge(hot, data, name, os.path.join(os.path.abspath(options.folder or scratch), name)):
                print("| " + " | ".join(row) + " |", flush=True)
        if options.only in "FiberCup":
            judge_fibercup(hot, data)
        if options.only in "phantom":
            judge_phantom(hot, scratch)


if __name__ == "__main__":
    main()
